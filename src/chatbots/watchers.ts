import type { AgentAnswer, AnswerFrame } from '../agents/contract/answering.js'

/**
 * What became of a message. `queries` are those that the answer rests on, `note` says what else it rests on if there are none, and
 * `notice` is what whoever wrote it is told instead of an answer.
 */
export type MessageEnd =
  | { status: 'answered'; answer: string; text: string; queries: AgentAnswer['queries']; note?: string }
  | { status: 'failed'; reason: string; error: string; notice: string | null }

/** What happens to a message until it is answered or failed. */
export type MessageNews = { frame: AnswerFrame } | { end: MessageEnd }

type Listener = (news: MessageNews) => void

/**
 * Those who wait for the answer to a message. What happens is told to them at once, and kept for nobody.
 *
 * @example const leave = watchers.watch(message, (news) => …)
 */
export class Watchers {
  readonly #listeners = new Map<string, Set<Listener>>()

  /** Returns a function that ends it. */
  watch(message: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(message) ?? new Set()
    this.#listeners.set(message, listeners)
    listeners.add(listener)
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#listeners.get(message) === listeners) this.#listeners.delete(message)
    }
  }

  /** Whether somebody waits for this answer here. */
  has(message: string): boolean {
    return this.#listeners.has(message)
  }

  /** Tells those who watch a message what is new of it. */
  tell(message: string, news: MessageNews): void {
    for (const listener of [...(this.#listeners.get(message) ?? [])]) listener(news)
  }
}
