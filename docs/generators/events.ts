import * as z from 'zod'
import { catalogue, currentSchema } from '../../events/catalogue/catalogue.js'
import { table } from './markdown.js'

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
    required.includes(name) ? '' : type.endsWith('Updated') ? 'if it changed' : 'optional',
  ])
  const data = fields.length > 0 ? table(['Field', 'Type', ''], fields) : 'It has no data.'
  return `### ${type}\n\n${definition.schema.description ?? ''} Schema version ${currentSchema(type)}.\n\n${data}`
}

/** docs/audit/events.md: every type of event with its fields. */
export const eventsPage = (): string => {
  const kinds = [...new Set([...catalogue.values()].map(({ kind }) => kind))]
  const sections = kinds.map((kind) => {
    const types = [...catalogue].flatMap(([type, definition]) => (definition.kind === kind ? [type] : []))
    return `## ${kind}\n\n${types.map(eventSection).join('\n\n')}`
  })
  return `# Events

This page lists every type of event and its data. An event is stored as one text: the data, with the position, stream, version, type, schema version, time, actor, source, request, correlation id and causation id around it. The service hashes this whole text. Update events have the new values. A log can also have events of other programs, whose types have a dot ([the log in your program](../use/embedding.md)).

${sections.join('\n\n')}`
}
