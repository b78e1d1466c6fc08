/** Settles as promise does, or rejects with the signal's reason as soon as that is aborted. What promise stands for goes on. */
export async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (!signal) {
    return promise;
  }
  signal.throwIfAborted();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const listener = () => reject(signal.reason);
    signal.addEventListener("abort", listener, { once: true });
    stop = () => signal.removeEventListener("abort", listener);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    stop();
  }
}
