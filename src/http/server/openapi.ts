import * as z from 'zod'
import { problemCatalogue } from '../../basics/errors.js'
import { headersOf, headerParameters } from './openapi-headers.js'
import type { Route } from '../protocol/route.js'

const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.enum(Object.keys(problemCatalogue)),
    hint: z.string().optional(),
    request: z.string(),
    timestamp: z.string(),
  })
  .meta({ id: 'Problem' })

type Schema = Record<string, unknown>

/** The schema of a body in another media type: JSON in another form, text, or bytes. */
const shapeOf = (type: string): Schema => {
  if (type.endsWith('-batch+json')) return { type: 'array', items: { type: 'object' } }
  if (type.endsWith('+json')) return { type: 'object' }
  return { type: 'string' }
}

/** Collects the schemas with an id, so that operations can refer to them. */
class Components {
  readonly schemas: Schema = {}

  /** A zod schema as JSON schema. A schema with an id becomes a component. */
  schema(schema: z.ZodType): Schema {
    const text = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })).replaceAll(
      '"#/$defs/',
      '"#/components/schemas/',
    )
    const { $defs, $schema: _, id, ...rest } = JSON.parse(text) as Schema & { $defs?: Schema; id?: string }
    Object.assign(this.schemas, $defs)
    if (id === undefined) return rest
    this.schemas[id] = rest
    return { $ref: `#/components/schemas/${id}` }
  }

  content(schema: z.ZodType, type = 'application/json') {
    return { content: { [type]: { schema: this.schema(schema) } } }
  }

  /** The body of a request: JSON, or one of other media types. */
  requestBody({ body, takes = {} }: Route) {
    const schema = body?.schema
    const others = Object.entries(takes).map(([type, schema]): [string, Schema] => [type, schema ? { schema: this.schema(schema) } : {}])
    return { required: true, content: { ...(schema && this.content(schema).content), ...Object.fromEntries(others) } }
  }

  /** The body of an answer with this status: JSON, and possibly other media types. */
  answer(schema: z.ZodType | null, status: string, gives: readonly string[] = []) {
    const others = status === '200' ? gives.map((type): [string, Schema] => [type, { schema: shapeOf(type) }]) : []
    if (!schema && others.length === 0) return {}
    return { content: { ...(schema && this.content(schema).content), ...Object.fromEntries(others) } }
  }
}

const reasons: Record<string, string> = { 201: 'Created', 204: 'Done; no body', 503: 'Not ready' }

const descriptionOf = ({ success = 'OK' }: Route, status: string): string => (status === '200' ? success : (reasons[status] ?? 'Answer'))

/** The schema of a path segment: the position of an event, or a name. */
const pathSchema = (name: string | undefined): Schema =>
  name === 'position' ? { type: 'integer', minimum: 1 } : { type: 'string', minLength: 1 }

const parameters = (route: Route, components: Components) => [
  ...headersOf(route),
  ...[...route.path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: pathSchema(name) })),
  ...Object.entries(route.query ?? {}).map(([name, { schema }]) => ({
    name,
    in: 'query',
    required: !schema.safeParse(undefined).success,
    schema: components.schema(schema),
  })),
]

const operation = (route: Route, components: Components) => ({
  operationId: `${route.method}${route.path.replace(/\/:?(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
  summary: route.summary,
  parameters: parameters(route, components),
  ...((route.body?.schema ?? route.takes) && { requestBody: components.requestBody(route) }),
  responses: {
    ...Object.fromEntries(
      Object.entries(route.answers).map(([status, schema]) => [
        status,
        { description: descriptionOf(route, status), ...components.answer(schema, status, route.gives) },
      ]),
    ),
    default: { description: 'Refused', ...components.content(problem, 'application/problem+json') },
  },
})

/**
 * The OpenAPI 3.1 document of exactly these routes, made from the schemas that check their queries and bodies.
 *
 * @example openApiDocument(routes, '1.0.0').paths['/api/projects'] // { get: …, post: … }
 */
export const openApiDocument = (routes: readonly Route[], version: string) => {
  const components = new Components()
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = `/api${route.path.replace(/:(\w+)/g, '{$1}')}`
    paths[path] = { ...paths[path], [route.method]: operation(route, components) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Mindledger', version, description: 'Projects of skills, agents, chatbots and models; SQL and predictions over them.' },
    paths,
    components: { schemas: components.schemas, parameters: headerParameters },
  }
}
