import type { Clock } from "./clock.js";

/** Waits, or rejects with the signal's reason as soon as that is aborted. */
export async function pause(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  let stop = () => {};
  await new Promise<void>((resolve) => {
    const cancel = clock.after(milliseconds, resolve);
    const aborted = () => {
      cancel();
      resolve();
    };
    signal?.addEventListener("abort", aborted);
    stop = () => signal?.removeEventListener("abort", aborted);
  });
  stop();
  signal?.throwIfAborted();
}
