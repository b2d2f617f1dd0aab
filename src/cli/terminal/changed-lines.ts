import { withoutControls } from './text-width.js'

/**
 * The difference of two texts, as lines. Equal lines at the beginning and at the end have two spaces before them. Between them, lines of
 * the first text begin with `- `, and lines of the second with `+ `.
 *
 * @example changedLines('a\nb', 'a\nc') // ['  a', '- b', '+ c']
 */
export const changedLines = (before: string, after: string): string[] => {
  const [one, other] = [before.split('\n').map(withoutControls), after.split('\n').map(withoutControls)]
  const most = Math.min(one.length, other.length)
  let first = 0
  while (first < most && one[first] === other[first]) first += 1
  let last = 0
  while (last < most - first && one[one.length - 1 - last] === other[other.length - 1 - last]) last += 1
  const marked = (lines: readonly string[], mark: string) => lines.map((line) => `${mark} ${line}`)
  return [
    ...marked(one.slice(0, first), ' '),
    ...marked(one.slice(first, one.length - last), '-'),
    ...marked(other.slice(first, other.length - last), '+'),
    ...marked(one.slice(one.length - last), ' '),
  ]
}
