import { PositionError } from "./problem.js";

/** Where a device stands in the hub's order of frames. Keep it, together with what was applied, and come back with it. */
export interface Position {
  /** The newest cursor, or "". */
  loadCursor(): Promise<string> | string;
  /** Replaces it. Called when the caller has taken every frame up to the cursor. */
  saveCursor(cursor: string): Promise<void> | void;
}

/**
 * A position for as long as the process, or the page, lives. Also that of an application which keeps the cursor itself, in one transaction with
 * what it makes of the frames: it writes each update's `cursor` that is not "", and gives the newest one here when it starts.
 */
export class MemoryPosition implements Position {
  cursor: string;

  constructor(cursor = "") {
    this.cursor = cursor;
  }

  loadCursor(): string {
    return this.cursor;
  }

  saveCursor(cursor: string): void {
    this.cursor = cursor;
  }
}

/**
 * Where one reader stands: by what it was handed, from which connections resume, and by what it has applied, which is kept. The first moves
 * before an event is handed on, so that no connection brings it again; the second only when the reader comes back, so that a crash in between
 * loses nothing.
 */
export class Progress {
  readonly #kept: Position;
  #handed: string | undefined; // of the newest frame that was handed on; undefined until it was loaded
  #due = ""; // of the newest frame that was handed on but not kept yet
  #before: string | undefined; // #handed, before the present frame

  constructor(kept: Position) {
    this.#kept = kept;
  }

  /** The cursor that a connection goes on from. */
  async resume(): Promise<string> {
    try {
      return (this.#handed ??= await this.#kept.loadCursor());
    } catch (error) {
      throw new PositionError(error);
    }
  }

  /** Notes that a contiguous frame is about to be handed on. A frame in the middle of a step has no cursor. Says whether it moves on. */
  hand(cursor: string | undefined): boolean {
    this.#before = this.#handed;
    if (cursor) {
      this.#handed = this.#due = cursor;
    }
    return this.#handed !== this.#before;
  }

  /** Undoes hand: the reader has left before the frame was handed on whole. */
  takeBack(): void {
    this.#handed = this.#before;
    this.#due = "";
  }

  /** Keeps what was handed on: the reader has come back for more. */
  async applied(): Promise<void> {
    const due = this.#due;
    if (due === "") {
      return;
    }
    try {
      await this.#kept.saveCursor(due);
    } catch (error) {
      throw new PositionError(error);
    }
    this.#due = "";
  }
}
