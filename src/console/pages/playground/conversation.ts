import { signal } from '@preact/signals'
import { addressOf, type Round } from './rounds.js'

/** The address of a conversation: its agents, and its answers so far. Members of an address that are missing are empty texts. */
export type Address = Readonly<Record<'agent' | 'beside' | 'beside_at' | 'answers', string>>

const noAddress: Address = { agent: '', beside: '', beside_at: '', answers: '' }

/** Whether two addresses name the same agents, as of the same moments. */
export const isSame = (one: Address, other: Address): boolean =>
  one.agent === other.agent && one.beside === other.beside && one.beside_at === other.beside_at

/** A conversation at one moment. A question goes on while another page or another moment is shown. */
class Conversation {
  readonly rounds = signal<readonly Round[]>([])
  /** The address under which it was shown last. */
  #shown = noAddress

  /** Its address now; undefined if it is empty. */
  get address(): Address | undefined {
    return this.rounds.value.length === 0 ? undefined : { ...this.#shown, answers: addressOf(this.rounds.value) }
  }

  /** Whether an address is the one of this conversation, or was so before its last answer. */
  isOf(address: Address): boolean {
    if (!isSame(address, this.#shown)) return false
    return address.answers === this.#shown.answers || address.answers === addressOf(this.rounds.peek())
  }

  /** Shows it under an address; `rounds` if it is another one from now on. */
  show(address: Address, rounds: readonly Round[] = this.rounds.peek()): void {
    this.#shown = address
    this.rounds.value = rounds
  }

  /** Begins a new conversation. Answers that are still under way are recorded, but are not shown here. */
  clear(): void {
    this.rounds.value = []
  }
}

const conversations = new Map<string | undefined, Conversation>()

/**
 * The conversation of this window at a moment. Each moment has its own: its agent may have another version there, which did not say what
 * this one said.
 */
export const conversationAt = (moment: string | undefined): Conversation => {
  const found = conversations.get(moment)
  if (found) return found
  // A window may pass many moments; those without a question leave nothing.
  for (const [passed, { rounds }] of conversations) if (rounds.peek().length === 0) conversations.delete(passed)
  const begun = new Conversation()
  conversations.set(moment, begun)
  return begun
}
