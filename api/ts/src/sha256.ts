/*
 * SHA-256 (FIPS 180-4) in the same turn: a reducer applies frames one by one and must not wait for each, as crypto.subtle would have it.
 * For digests that say whether two devices have seen the same; no secret depends on it.
 */

const ROUND = constants(64, 1 / 3);
const START = constants(8, 1 / 2);

/** The digest of bytes: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = Uint32Array.from(START);
  const words = new Uint32Array(64);
  const blocks = padded(bytes);
  for (let at = 0; at < blocks.byteLength; at += 64) {
    for (let i = 0; i < 16; i++) {
      words[i] = blocks.getUint32(at + 4 * i);
    }
    compress(state, words);
  }
  const digest = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => digest.setUint32(4 * i, word));
  return new Uint8Array(digest.buffer);
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The message, a one bit, zeros, and its length in bits, in whole blocks of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const blocks = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  blocks.set(bytes);
  blocks[bytes.length] = 0x80;
  const view = new DataView(blocks.buffer);
  view.setUint32(blocks.length - 8, Math.floor(bytes.length / 0x2000_0000));
  view.setUint32(blocks.length - 4, (bytes.length << 3) >>> 0);
  return view;
}

function compress(state: Uint32Array, w: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const a = w[i - 15]!;
    const b = w[i - 2]!;
    const s0 = turn(a, 7) ^ turn(a, 18) ^ (a >>> 3);
    const s1 = turn(b, 17) ^ turn(b, 19) ^ (b >>> 10);
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
  for (let i = 0; i < 64; i++) {
    const t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i]! + w[i]!;
    const t2 = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) >>> 0, c, b, a, (t1 + t2) >>> 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i]! += word));
}

function turn(x: number, by: number): number {
  return (x >>> by) | (x << (32 - by));
}

/** The first 32 bits of the fraction of p^power, for the first primes p. */
function constants(count: number, power: number): Uint32Array {
  const found: number[] = [];
  for (let p = 2; found.length < count; p++) {
    if (isPrime(p)) {
      found.push((p ** power % 1) * 2 ** 32);
    }
  }
  return Uint32Array.from(found);
}

function isPrime(n: number): boolean {
  for (let d = 2; d * d <= n; d++) {
    if (n % d === 0) {
      return false;
    }
  }
  return true;
}
