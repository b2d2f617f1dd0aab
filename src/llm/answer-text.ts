/** Texts of an answer, cleaned as they arrive. `end` gives what was held back. */
export type TextCleaner = { next: (text: string) => string; end: () => string }

const [opening, closing] = ['<think>', '</think>']

/**
 * Leaves out the thoughts that some models write before their answer, between `<think>` and `</think>`. What may be the beginning of a tag
 * is held back until it is known.
 *
 * @example withoutThoughts().next('<think>So the user …</think>There are 3.') // 'There are 3.'
 */
export const withoutThoughts = (): TextCleaner => {
  let state: 'beginning' | 'thinking' | 'answering' = 'beginning'
  let held = ''
  const begin = (): string => {
    const start = held.trimStart()
    if (start.length < opening.length && opening.startsWith(start)) return ''
    if (!start.startsWith(opening)) {
      state = 'answering'
      return held
    }
    state = 'thinking'
    held = start.slice(opening.length)
    return think()
  }
  const think = (): string => {
    const end = held.indexOf(closing)
    if (end < 0) {
      held = held.slice(-closing.length)
      return ''
    }
    state = 'answering'
    return held.slice(end + closing.length).trimStart()
  }
  return {
    next: (text) => {
      if (state === 'answering') return text
      held += text
      return state === 'beginning' ? begin() : think()
    },
    end: () => (state === 'beginning' ? held : ''),
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
