/** The nodes of one log tell each other how far their files are free of erased data. */
export interface Wipes {
  /** Notes that no file of this node has a byte of what was erased up to a position. */
  wiped(position: number): Promise<void>
  /**
   * Resolves when all living nodes have noted that. A node that is silent is not waited for: it wipes its files when it
   * follows the erasure, which it does before it answers again, unless it has READS=local and is still cut off.
   * @throws Problem 503 at the signal
   */
  everywhere(position: number, signal: AbortSignal): Promise<void>
}
