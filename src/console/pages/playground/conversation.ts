import { signal } from '@preact/signals'
import { addressOf, type Round } from './rounds.js'

/** The address of a conversation: its agents, and its answers so far. Members of an address that are missing are empty texts. */
export type Address = Readonly<Record<'agent' | 'beside' | 'beside_at' | 'answers', string>>

const noAddress: Address = { agent: '', beside: '', beside_at: '', answers: '' }

/** Whether two addresses name the same agents, as of the same moments. */
const isSame = (one: Address, other: Address): boolean =>
  one.agent === other.agent && one.beside === other.beside && one.beside_at === other.beside_at

/** The conversation of this window. A question goes on while another page is shown. */
class Conversation {
  readonly rounds = signal<readonly Round[]>([])
  /** The address under which it was shown last, and the moment of the page. */
  #shown: { address: Address; moment: string | undefined } = { address: noAddress, moment: undefined }

  /** Its address now; undefined if it is empty, or at another moment. */
  at(moment: string | undefined): Address | undefined {
    if (this.rounds.value.length === 0 || moment !== this.#shown.moment) return undefined
    return { ...this.#shown.address, answers: addressOf(this.rounds.value) }
  }

  /** Whether an address is the one of this conversation, or was so before its last answer. */
  isOf(address: Address, moment: string | undefined): boolean {
    const { address: shown, moment: then } = this.#shown
    if (moment !== then || !isSame(address, shown)) return false
    return address.answers === shown.answers || address.answers === addressOf(this.rounds.peek())
  }

  /** Shows it under an address; `rounds` if it is another one from now on. */
  show(address: Address, moment: string | undefined, rounds: readonly Round[] = this.rounds.peek()): void {
    this.#shown = { address, moment }
    this.rounds.value = rounds
  }

  /** Begins a new conversation. Answers that are still under way are recorded, but are not shown here. */
  clear(): void {
    this.rounds.value = []
  }
}

export const conversation = new Conversation()
