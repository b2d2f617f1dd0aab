/** The nodes of one log tell each other up to which erasure their files are wiped. */
export interface Wipes {
  /** Notes that no file of this node has a byte of data that was erased up to a position. */
  wiped(position: number): Promise<void>
  /**
   * Resolves when all running nodes have noted that. It does not wait for a silent node: that node follows the erasure before it answers
   * again, and then wipes its files. The only exception is a disconnected node with READS=local.
   * @throws Problem 503 at the signal
   */
  everywhere(position: number, signal: AbortSignal): Promise<void>
}
