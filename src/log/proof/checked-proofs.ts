import { wrong } from '../../basics/errors.js'
import type { InclusionProof } from '../contract/log.js'
import type { MerkleTree } from './merkle-tree.js'

const whole = (name: string, value: number, least: number, most: number, what: string): void => {
  if (!Number.isSafeInteger(value) || value < least || value > most)
    throw wrong(`${name} must be a whole number from ${least} to ${most}, ${what}`)
}

/** Answers questions about a log's tree, for positions and sizes that it has. All others are refused with a Problem. */
export class CheckedProofs {
  constructor(private readonly tree: MerkleTree) {}

  /** How many events the tree is over. */
  get size(): number {
    return this.tree.size
  }

  /** The root over the first `size` events, 32 bytes. @throws Problem wrong_arguments for a size that the log does not have */
  rootAt(size: number): Buffer {
    this.#size('size', size, 0)
    return this.tree.rootAt(size)
  }

  /**
   * The proof that the event at a position, from 1, is in the tree of a size.
   *
   * @throws Problem wrong_arguments for a size or a position that the log does not have
   */
  inclusionProof(position: number, size: number): InclusionProof {
    this.#size('size', size, 1)
    whole('position', position, 1, size, 'the size')
    return { leaf: this.tree.leaf(position - 1), hashes: this.tree.inclusionProof(position - 1, size) }
  }

  /**
   * The proof that the tree of one size goes on as the tree of a larger one.
   *
   * @throws Problem wrong_arguments for sizes that the log does not have
   */
  consistencyProof(from: number, to: number): Buffer[] {
    this.#range(from, to)
    return this.tree.consistencyProof(from, to)
  }

  /**
   * The hashes of the fewest complete subtrees that cover the events from one size to another.
   *
   * @throws Problem wrong_arguments for sizes that the log does not have
   */
  subtrees(from: number, to: number): Buffer[] {
    this.#range(from, to)
    return this.tree.subtrees(from, to)
  }

  /** The leaf hashes of the events from one size to another. @throws Problem wrong_arguments for sizes that the log does not have */
  leaves(from: number, to: number): Buffer[] {
    this.#range(from, to)
    return this.tree.leaves(from, to)
  }

  #range(from: number, to: number): void {
    this.#size('to', to, 0)
    whole('from', from, 0, to, 'the other size')
  }

  #size(name: string, size: number, least: number): void {
    whole(name, size, least, this.tree.size, 'the newest position')
  }
}
