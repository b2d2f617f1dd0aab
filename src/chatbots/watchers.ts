import type { AgentAnswer, AnswerFrame } from '../agents/contract/answering.js'

/**
 * The end of a message. `queries` has the queries behind the answer, `note` says that it is cut off or what it is based on if there are
 * none, and `notice` is the text that the author gets instead of an answer.
 */
export type MessageEnd =
  | { status: 'answered'; answer: string; text: string; queries: AgentAnswer['queries']; note?: string }
  | { status: 'failed'; reason: string; error: string; notice: string | null }

/** News of a message until it is answered or failed. */
export type MessageNews = { frame: AnswerFrame } | { end: MessageEnd }

type Listener = (news: MessageNews) => void

/**
 * Listeners that wait for the answer to a message. They get news at once, and the news are not kept.
 *
 * @example const leave = watchers.watch(message, (news) => …)
 */
export class Watchers {
  readonly #listeners = new Map<string, Set<Listener>>()

  /** Returns a function that ends the watch. */
  watch(message: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(message) ?? new Set()
    this.#listeners.set(message, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(message) === listeners) this.#listeners.delete(message)
    }
  }

  /** Whether a listener waits for this answer at this node. */
  has(message: string): boolean {
    return this.#listeners.has(message)
  }

  /** Sends news of a message to its listeners. */
  tell(message: string, news: MessageNews): void {
    for (const listener of [...(this.#listeners.get(message) ?? [])]) listener(news)
  }
}
