import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { catalogue, currentSchema } from '../events/catalogue.js'
import { settingDescriptions } from '../src/setup/config.js'
import { problemCatalogue } from '../src/basics/errors.js'
import { limits } from '../src/basics/limits.js'
import { limitDescriptions } from './limit-descriptions.js'
import { metricsPage } from './metrics.js'
import { tablesPage } from './tables.js'

type JsonSchema = {
  type?: string | string[]
  format?: string
  pattern?: string
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
}

const table = (heads: string[], rows: string[][]): string =>
  [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')

/** A type in a few words: `text or null`, `list of {request, rows}`. */
const typeOf = (schema: JsonSchema): string => {
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.format === 'uuid') return 'stream id'
  if (schema.pattern?.includes('{64}')) return 'SHA-256'
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  switch (schema.type) {
    case 'array':
      return `list of ${typeOf(schema.items ?? {})}`
    case 'object':
      return schema.properties ? `{${Object.keys(schema.properties).join(', ')}}` : 'JSON object'
    case 'string':
      return 'text'
    default:
      return schema.type ?? 'JSON'
  }
}

const eventSection = (type: string): string => {
  const definition = catalogue.get(type)
  if (!definition) throw new TypeError(`unknown event type ${type}`)
  const { properties = {}, required = [] } = z.toJSONSchema(definition.schema, { unrepresentable: 'any' }) as JsonSchema
  const fields = Object.entries(properties).map(([name, schema]) => [
    `\`${name}\``,
    typeOf(schema),
    required.includes(name) ? '' : 'if it changed',
  ])
  const data = fields.length > 0 ? table(['Field', 'Type', ''], fields) : 'It has no data.'
  return `### ${type}\n\n${definition.schema.description ?? ''} Schema version ${currentSchema(type)}.\n\n${data}`
}

const events = (): string => {
  const kinds = [...new Set([...catalogue.values()].map(({ kind }) => kind))]
  const sections = kinds.map((kind) => {
    const types = [...catalogue].flatMap(([type, definition]) => (definition.kind === kind ? [type] : []))
    return `## ${kind}\n\n${types.map(eventSection).join('\n\n')}`
  })
  return `# Events

Everything that can happen. Each event is stored with position, stream, version, type, schema version, time, actor, source, request,
correlation and causation id around the data below; that whole text is what is hashed. Update events carry the values that result.

${sections.join('\n\n')}`
}

/** Large numbers as people write them: \`10 MiB\`, \`1 h\`, \`10,000\`. */
const readable = (name: string, value: number): string => {
  const units: [string, number][] = name.endsWith('Bytes')
    ? [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]] // prettier-ignore
    : name.endsWith('Ms')
      ? [['days', 86_400_000], ['h', 3_600_000], ['min', 60_000], ['s', 1_000], ['ms', 1]] // prettier-ignore
      : []
  const [unit, size] = units.find(([, each]) => value >= each && value % each === 0) ?? ['', 1]
  return `${(value / size).toLocaleString('en')} ${unit}`.trim()
}

const limitsPage = (): string =>
  `# Limits

Everything has a limit. They are constants in \`src/basics/limits.ts\`; a release note says when one changes.

${table(
  ['Limit', 'Value', 'What it bounds, and what happens beyond it'],
  Object.entries(limits).map(([name, value]) => [`\`${name}\``, readable(name, value), limitDescriptions[name as keyof typeof limits]]),
)}`

const errors = (): string =>
  `# Errors

Every refusal is \`application/problem+json\` with \`type\`, \`title\`, \`status\`, \`detail\`, \`code\` and often a \`hint\`. Over SQL the same stands in
an answer of type \`error\`. Codes are stable; titles and details are for people.

${table(
  ['Code', 'Status', 'Meaning'],
  Object.entries(problemCatalogue).map(([code, { status, about }]) => [`\`${code}\``, String(status), about]),
)}`

const settings = (): string =>
  `# Settings

Environment variables. An empty one counts as unset; a wrong one is refused at start, by name.

${table(
  ['Variable', 'Default', 'Meaning'],
  settingDescriptions.map(({ name, about, default: value }) => [`\`${name}\``, value === undefined ? '' : `\`${String(value)}\``, about]),
)}`

const written = '<!-- Written by `npm run docs`. Change the code that it describes. -->'

// What a scrape says of itself is only told in time.
const metrics = await metricsPage()

/** The pages that follow from the code, by file name. */
export const pages = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries({
      'events.md': events(),
      'limits.md': limitsPage(),
      'errors.md': errors(),
      'settings.md': settings(),
      'tables.md': tablesPage(),
      'metrics.md': metrics,
    }).map(([file, text]) => [file, `${written}\n\n${text}\n`]),
  )

// Compiled to dist/docs, the pages stand beside the sources.
const folder = new URL('../../docs/', import.meta.url)
export const readPage = (file: string): string => readFileSync(new URL(file, folder), 'utf8')

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [file, text] of Object.entries(pages())) writeFileSync(new URL(file, folder), text)
