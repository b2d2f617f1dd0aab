import { limits } from '../../src/basics/limits.js'
import { limitDescriptions } from './limit-descriptions.js'
import { table } from './markdown.js'

/** Large numbers as people write them: `10 MiB`, `1 h`, `10,000`. */
const readable = (name: string, value: number): string => {
  const units: [string, number][] = name.endsWith('Bytes')
    ? [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]] // prettier-ignore
    : name.endsWith('Ms')
      ? [['days', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1_000], ['ms', 1]] // prettier-ignore
      : []
  const [unit, size] = units.find(([, each]) => value >= each && value % each === 0) ?? ['', 1]
  const count = value / size
  return `${count.toLocaleString('en')} ${count === 1 && unit === 'days' ? 'day' : unit}`.trim()
}

/** docs/operate/limits.md: every limit with its value. */
export const limitsPage = (): string =>
  `# Limits

All limits are constants in \`src/basics/limits/\`. A release note says when one changes.

${table(
  ['Limit', 'Value', 'What it bounds, and what happens beyond it'],
  Object.entries(limits).map(([name, value]) => [`\`${name}\``, readable(name, value), limitDescriptions[name as keyof typeof limits]]),
)}`
