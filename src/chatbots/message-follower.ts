import { Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import type { MessageNews, Watchers } from './watchers.js'

/** The characters of a frame beside its texts, about. */
const leastChars = 200

const charsOf = (news: MessageNews): number => {
  if ('end' in news) return leastChars
  const { frame } = news
  switch (frame.type) {
    case 'text':
      return frame.text.length
    case 'step':
      return leastChars + frame.input.length
    case 'result':
      return leastChars + frame.text.length + (frame.sql?.length ?? 0)
    case 'start':
    case 'remark':
      return leastChars
  }
}

/**
 * Follows a message until it is answered or failed. It keeps the news until they are read, up to a limit: a reader that is too slow gets an
 * error, and reads the answer later.
 *
 * @example
 * const follower = new MessageFollower(conversations.watchers, message)
 * for await (const news of follower.news(call.gone)) …
 */
export class MessageFollower {
  #kept: MessageNews[] = []
  #chars = 0
  #isOver = false
  #wake: () => void = () => undefined
  readonly #leave: () => void

  constructor(watchers: Watchers, message: string) {
    this.#leave = watchers.watch(message, (news) => this.add(news))
  }

  /** Adds news from the log. */
  add(news: MessageNews): void {
    if (this.#isOver) return
    this.#kept.push(news)
    this.#chars += charsOf(news)
    if ('end' in news) this.close()
    this.#wake()
  }

  /** Keeps nothing more. */
  close(): void {
    this.#isOver = true
    this.#leave()
  }

  /**
   * The news of the message, at once. It ends with the end of the message, or when the signal aborts.
   * @throws Problem when the reader is too slow
   */
  async *news(signal: AbortSignal): AsyncGenerator<MessageNews, void, void> {
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake, { once: true })
    let kept: MessageNews[] = []
    let next = 0
    try {
      while (!signal.aborted) {
        // Taken together: taking items one by one would move all later ones each time.
        if (next >= kept.length) [kept, this.#kept, next] = [this.#kept, [], 0]
        const news = kept[next++]
        if (news) {
          if (this.#chars > limits.messageFramesMaxChars)
            throw new Problem('busy', 'Too slow', 'the answer came faster than it was read (messageFramesMaxChars)', {
              hint: 'Read the message at its own address.',
            })
          this.#chars -= charsOf(news)
          yield news
          if ('end' in news) return
        } else await new Promise<void>((resolve) => (this.#wake = resolve))
      }
    } finally {
      signal.removeEventListener('abort', wake)
      this.close()
    }
  }
}
