import { limits } from '../../src/basics/limits.js'
import { formats } from '../../src/http/reads/sql-answers.js'
import { characters, json, largeName, long, type Body } from './body.js'
import { posted, questions, said } from './chats.js'
import { erasures } from './erasures.js'
import { outcomes, predictions, row } from './predictions.js'
import { manyTokens, values, type Maker } from './texts.js'
import { toolBodies } from './tools.js'
import { uploads } from './uploads.js'

const statement = manyTokens('SELECT [', "'ab',", 2, "'ab'] AS list")
const most = limits.resourceBodyMaxValues - 100

/** The ways in which the params of a resource can reach their largest size. */
const params: Readonly<Record<string, Maker>> = {
  // Some bodies have two more params beside these.
  keys: (share) => `{${values(limits.objectMaxKeys - 2, (n) => `"k${n}":1`)(share)}}`,
  objects: (share) => `{"a":[${values(most >> 1, (n) => `{"k${n}":1}`)(share)}]}`,
  texts: (share) => `{"a":[${values(most - 100, () => '"a b=c d"')(share)}]}`,
  secrets: (share) => `{"a":[${values(limits.secretsMaxPerCommand, () => '{"token":"x"}')(share)}]}`,
  'one text': (share) => `{"a":"${characters('a b = c ')(share)}"}`,
  'a text of URLs': (share) => `{"a":"${characters('a://b:c ')(share)}"}`,
  'JSON in a text': (share) => `{"a":${JSON.stringify(`[${characters('1,')(share)}1]`)}}`,
}

/** Bodies for a kind of resource. Each has a new name, so that the service carries out all of them. */
const resource = (kind: string, rest: string, field = 'params'): Body[] =>
  Object.entries(params).map(([of, text]) =>
    json(`${kind} of ${of}`, (share) => `{"${kind}":{"name":"${largeName(kind, of)}",${rest}"${field}":${text(share)}}}`),
  )
/** The same for an existing resource, once with each of the largest params. */
const change = (kind: string, field = 'params'): Body[] =>
  Object.entries(params).map(([of, text]) => json(`${kind} with ${of}`, (share) => `{"${kind}":{"${field}":${text(share)}}}`))

const many = limits.bodyMaxValues - 100_000

const statementOf = (kind: string, rest = ''): Maker => {
  return (share) => `{"${kind}":{"name":"large_${kind}","query":${JSON.stringify(statement(share))}${rest}}}`
}
const rollback = json('an early version', () => '{"version":1}')

/** A SELECT in each format of answers: of many rows, and of one long value with characters that CSV and JSON write in another way. */
const answers: readonly Body[] = ['json', ...formats].flatMap((format) => {
  const asked = (query: string) => JSON.stringify({ query, ...(format !== 'json' && { response_format: format }) })
  return [
    json(`rows as ${format}`, (share) =>
      asked(`SELECT range AS n, 'some text' AS word, range / 7 AS part FROM range(${Math.ceil(1_000_000 * share)})`),
    ),
    json(`a long value as ${format}`, (share) => asked(`SELECT repeat('a"b, ', ${Math.ceil(2_000_000 * share)}) AS one`)),
  ]
})

const projects = '/api/projects/{project}'
const model = `${projects}/models/{model}`

/** Bodies by the method and path of their route. Every route that takes a body must be here. */
export const bodies: Readonly<Record<string, readonly Body[]>> = {
  'POST /api/login': [
    json('the longest password', () => `{"username":"${'u'.repeat(1_000)}","password":"${'x'.repeat(1_000)}"}`),
    json('a password that is too long', (share) => `{"password":"${'x'.repeat(share * (limits.smallBodyMaxBytes - 100))}"}`),
  ],
  'POST /api/projects': [
    json('the longest name', () => `{"project":{"name":"${'a'.repeat(limits.nameMaxChars)}"}}`),
    json('a name that is too long', (share) => `{"project":{"name":"${characters('a')(share)}"}}`),
  ],
  // The default project keeps its name.
  'PUT /api/projects/{project}': [
    {
      ...json('the longest name', () => `{"project":{"name":"${'b'.repeat(limits.nameMaxChars)}"}}`),
      names: { project: 'a'.repeat(limits.nameMaxChars) },
    },
    json('a name that is too long', (share) => `{"project":{"name":"${characters('a')(share)}"}}`),
  ],
  [`POST ${projects}/skills`]: resource('skill', '"type":"sql",'),
  [`PUT ${projects}/skills/{skill}`]: change('skill'),
  [`POST ${projects}/agents`]: [
    ...resource('agent', '"model_name":"m",'),
    json('skills', (share) => `{"agent":{"name":"x","model_name":"m","skills":[${values(most, () => '"s"')(share)}]}}`),
  ],
  [`PUT ${projects}/agents/{agent}`]: change('agent'),
  [`POST ${projects}/agents/{agent}/completions`]: questions,
  [`POST ${projects}/agents/{agent}/completions/stream`]: questions,
  [`POST ${projects}/agents/{agent}/answers/{answer}/rerun`]: [
    json('a long prompt', (share) => `{"prompt":"${long(limits.agentQuestionMaxChars)(share)}"}`),
  ],
  [`POST ${projects}/agents/{agent}/reruns`]: [
    json('many answers', (share) => `{"answers":[${values(limits.rerunAnswersMax, (n) => `"${n}"`)(share)}]}`),
    json('a query for answers', () => `{"query":"SELECT answer_id FROM log.answers"}`),
    json(
      'a long query',
      (share) => `{"query":"${'SELECT answer_id FROM log.answers -- '.padEnd(share * limits.rerunQueryMaxChars, 'a ')}"}`,
    ),
  ],
  [`POST ${projects}/agents/{agent}/answers/{answer}/feedback`]: [
    json('a long comment', (share) => `{"verdict":"good","comment":"${long(limits.answerCommentMaxChars)(share)}"}`),
  ],
  [`POST ${projects}/knowledge_bases`]: resource('knowledge_base', '', 'params'),
  [`PUT ${projects}/knowledge_bases/{base}`]: [
    json('rows', (share) => `{"knowledge_base":{"rows":[${values(most >> 1, (n) => `{"content":"a b ${n}"}`)(share)}]}}`),
    json('a long document', (share) => `{"knowledge_base":{"rows":[{"content":"${characters('a b ')(share)}"}]}}`),
  ],
  [`POST ${projects}/knowledge_bases/{base}/completions`]: [
    json('a long question', (share) => `{"query":"${long(limits.knowledgeQueryMaxWords * 2)(share)}","type":"context"}`),
  ],
  [`POST ${projects}/knowledge_bases/{knowledge_base}/rollback`]: [rollback],
  [`POST ${projects}/chatbots/{chatbot}/messages`]: said,
  [`POST ${projects}/chatbots/{chatbot}/messages/stream`]: said,
  'POST /api/webhooks/chatbots/{token}': posted,
  'POST /api/mcp': toolBodies,
  [`POST ${projects}/chatbots`]: resource('chatbot', '"database_name":"chat","agent_name":"helper",'),
  [`PUT ${projects}/chatbots/{chatbot}`]: change('chatbot'),
  [`POST ${projects}/views`]: [json('a list', statementOf('view'))],
  [`PUT ${projects}/views/{view}`]: [json('a list', statementOf('view'))],
  [`POST ${projects}/jobs`]: [json('a list', statementOf('job', ',"start_at":"2099-01-01"'))],
  [`PUT ${projects}/jobs/{job}`]: [json('a list', statementOf('job', ',"start_at":"2099-01-01"'))],
  'POST /api/databases': resource('database', '"engine":"slack",', 'parameters'),
  'POST /api/databases/status': [json('keys', (share) => `{"engine":"slack",${params['keys']?.(share).slice(1) ?? ''}`)],
  'PUT /api/databases/{database}': change('database', 'parameters'),
  'POST /api/databases/{database}/tables': [
    json('a list', (share) => `{"table":{"name":"listed","select":${JSON.stringify(statement(share))}}}`),
  ],
  'PUT /api/files/{file}': uploads,
  'PUT /api/config': [json('keys', (share) => `{"default_llm":${params['keys']?.(share) ?? ''}}`)],
  'POST /api/log/erasures': erasures,
  'POST /api/log/rotations': [json('a new key', () => '{}')],
  [`POST ${projects}/models`]: [
    json(
      'rows to learn from',
      (share) => `{"query":"CREATE MODEL wide_model PREDICT c0 USING engine = 'constant'","data":[${values(60_000, row(10))(share)}]}`,
    ),
  ],
  [`PUT ${model}`]: [json('keys', (share) => `{"model":{"recording":"all",${params['keys']?.(share).slice(1) ?? ''}}`)],
  'POST /api/projects/{projectName}/models/{modelName}/predict': predictions,
  [`POST ${model}/outcomes`]: outcomes,
  ...Object.fromEntries(
    [
      ...['skills/{skill}', 'agents/{agent}', 'chatbots/{chatbot}', 'views/{view}', 'jobs/{job}'].map((one) => `${projects}/${one}`),
      ...[model, '/api/databases/{database}', '/api/files/{file}'],
    ].map((path) => [`POST ${path}/rollback`, [rollback]]),
  ),
  'POST /api/sql/query': [
    json('parameters', (share) => `{"query":"SELECT 1","params":[${values(limits.statementMaxParams, () => '1')(share)}]}`),
    json('a large parameter', (share) => `{"query":"SELECT length(:a)","params":{"a":"${'x'.repeat(share * 9_000_000)}"}}`),
    json('values in a context', (share) => `{"query":"SELECT 1","context":{"x":[${values(many, () => '1')(share)}]}}`),
    ...answers,
  ],
}
