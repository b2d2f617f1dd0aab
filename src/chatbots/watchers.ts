import type { AgentAnswer, AnswerFrame } from '../agents/contract/answering.js'

/**
 * The end of a message. `queries` has the queries behind the answer, `note` says that it is cut off or what it is based on if there are
 * none, and `notice` is the text that the author gets instead of an answer.
 */
export type MessageEnd =
  | { status: 'answered'; answer: string; text: string; queries: AgentAnswer['queries']; note?: string }
  | { status: 'failed'; reason: string; error: string; notice: string | null }

type ResultFrame = Extract<AnswerFrame, { type: 'result' }>

/** A frame of an answer without the rows of a query, which are many and come with the end. */
export type MessageFrame = Exclude<AnswerFrame, ResultFrame> | (Omit<ResultFrame, 'rows'> & { sql?: string })

/** @example messageFrameOf({ type: 'result', tool: 'sql', failed: false, text: '…', rows }) // { type: 'result', …, sql: 'SELECT …' } */
export const messageFrameOf = (frame: AnswerFrame): MessageFrame => {
  if (frame.type !== 'result') return frame
  const { rows, ...rest } = frame
  return { ...rest, ...(rows && { sql: rows.sql }) }
}

/** News of a message until it is answered or failed. */
export type MessageNews = { frame: MessageFrame } | { end: MessageEnd }

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
