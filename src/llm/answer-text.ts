/** Texts of an answer, cleaned as they arrive. `end` gives what was held back. */
export type TextCleaner = { next: (text: string) => string; end: () => string }

const [opening, closing] = ['<think>', '</think>']

/** A text of an answer. `isAfterRemark`: all text before it was no part of the answer. */
export type AnswerText = { text: string; isAfterRemark?: true }

/**
 * Leaves out the thoughts that some models write before their answer, between `<think>` and `</think>`. Where the server has written
 * `<think>` into the prompt, only `</think>` comes: then the text before it was thoughts. What may be the beginning of a tag is held back
 * until it is known.
 *
 * @example withoutThoughts().next('<think>So the user …</think>There are 3.').text // 'There are 3.'
 */
export const withoutThoughts = (): { next: (text: string) => AnswerText; end: () => string } => {
  let state: 'beginning' | 'thinking' | 'untagged' | 'answering' = 'beginning'
  let held = ''
  let hasShown = false
  /** Gives the held text without its end, which may be the beginning of a tag. */
  const show = (): AnswerText => {
    const last = held.lastIndexOf('<')
    const end = last >= 0 && [opening, closing].some((tag) => tag.startsWith(held.slice(last))) ? last : held.length
    const text = held.slice(0, end)
    held = held.slice(end)
    hasShown ||= text.trim() !== ''
    return { text }
  }
  const begin = (): AnswerText => {
    const start = held.trimStart()
    if (start.length < opening.length && opening.startsWith(start)) return { text: '' }
    if (!start.startsWith(opening)) {
      state = 'untagged'
      return look()
    }
    state = 'thinking'
    held = start.slice(opening.length)
    return think()
  }
  const think = (): AnswerText => {
    const end = held.indexOf(closing)
    if (end < 0) {
      held = held.slice(-closing.length)
      return { text: '' }
    }
    state = 'answering'
    return { text: held.slice(end + closing.length).trimStart() }
  }
  const look = (): AnswerText => {
    const [start, end] = [held.indexOf(opening), held.indexOf(closing)]
    if (start < 0 && end < 0) return show()
    if (start < 0 || (end >= 0 && end < start)) return hasShown ? { ...think(), isAfterRemark: true } : think()
    // Tags in the middle of an answer are its own.
    state = 'answering'
    return { text: held }
  }
  return {
    next: (text) => {
      if (state === 'answering') return { text }
      held += text
      return state === 'beginning' ? begin() : state === 'thinking' ? think() : look()
    },
    end: () => (state === 'beginning' || state === 'untagged' ? held : ''),
  }
}

const isLastHalf = (text: string): boolean => /[\ud800-\udbff]$/.test(text)

/** Joins halves of characters: some servers cut their answers inside of one. */
export const wholeCharacters = (): TextCleaner => {
  let held = ''
  return {
    next: (text) => {
      const all = held + text
      held = isLastHalf(all) ? all.slice(-1) : ''
      return (held === '' ? all : all.slice(0, -1)).toWellFormed()
    },
    end: () => (held === '' ? '' : '\ufffd'),
  }
}
