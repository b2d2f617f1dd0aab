import { extendZodWithOpenApi, OpenAPIRegistry, OpenApiGeneratorV31 } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import { problemCatalogue } from '../errors.js'
import type { Route } from './route.js'

extendZodWithOpenApi(z)

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

const reasons: Record<string, string> = { 200: 'OK', 201: 'Created', 204: 'Done; no body' }

/** The OpenAPI 3.1 document of exactly these routes, from the schemas that check their bodies. */
export const openApiDocument = (routes: readonly Route[], version: string): object => {
  const registry = new OpenAPIRegistry()
  for (const route of routes) {
    const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? '')
    const answers = Object.fromEntries(
      Object.entries(route.answers).map(([status, schema]) => [
        status,
        { description: reasons[status] ?? 'Answer', ...(schema && { content: { 'application/json': { schema } } }) },
      ]),
    )
    registry.registerPath({
      method: route.method,
      path: `/api${route.path.replace(/:(\w+)/g, '{$1}')}`,
      summary: route.summary,
      request: {
        ...(names.length > 0 && { params: z.object(Object.fromEntries(names.map((name) => [name, z.string()]))) }),
        ...(route.query && { query: route.query }),
        ...(route.body && { body: { content: { 'application/json': { schema: route.body } } } }),
      },
      responses: {
        ...answers,
        default: { description: 'Refused', content: { 'application/problem+json': { schema: problem } } },
      },
    })
  }
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: { title: 'Mindledger', version, description: 'Projects of skills, agents, chatbots and models; SQL and predictions over them.' },
  })
}
