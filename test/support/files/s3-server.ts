import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { S3Address } from '../../../src/files/shared/s3-address.js'

export type S3Server = {
  address: S3Address
  /** The complete objects, by path. */
  objects: Map<string, Buffer>
  /** The answered requests, such as `PUT 200`. */
  answered: string[]
  /** Answers that replace the next ones. */
  failures: number[]
  /** Whole answers, with their bodies, that replace the next ones. */
  answers: { status: number; body: string }[]
  stop: () => Promise<void>
}

const keys = { accessKeyId: 'key-of-the-tests', secretAccessKey: 'secret of the tests', sessionToken: undefined }
const region = 'eu-test-1'

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()
const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** The expected signature of a request, by AWS's version 4. */
const signatureOf = (request: IncomingMessage, signedHeaders: string): string => {
  const header = (name: string): string => String(request.headers[name] ?? '').trim()
  const [path, query = ''] = (request.url ?? '').split('?')
  const canonical = [
    request.method,
    path,
    query.split('&').sort().join('&'),
    ...signedHeaders.split(';').map((name) => `${name}:${header(name)}`),
    '',
    signedHeaders,
    header('x-amz-content-sha256'),
  ].join('\n')
  const time = header('x-amz-date')
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const ofDay = hmac(`AWS4${keys.secretAccessKey}`, time.slice(0, 8))
  return hmac(hmac(hmac(hmac(ofDay, region), 's3'), 'aws4_request'), toSign).toString('hex')
}

const refuse = (response: ServerResponse, status: number, code: string): void => {
  response.writeHead(status, { 'content-type': 'application/xml' }).end(`<?xml version="1.0"?><Error><Code>${code}</Code></Error>`)
}

/** The fault in the signature of a request. */
const objection = (request: IncomingMessage): string | undefined => {
  const [, key, signedHeaders = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/\S+, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    ) ?? []
  if (key !== keys.accessKeyId) return 'InvalidAccessKeyId'
  const isComplete = ['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signedHeaders.split(';').includes(name))
  return isComplete && signature === signatureOf(request, signedHeaders) ? undefined : 'SignatureDoesNotMatch'
}

/** The number of names on a page of a list: so few that a test has several pages. */
const namesOnPage = 3

/** A page of the names with a common beginning, as in version 2 of the list API. */
const listed = (objects: ReadonlyMap<string, Buffer>, bucket: string, query: URLSearchParams): string => {
  const root = `/${bucket}/`
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? '/']
  const all = [...objects.keys()].map((path) => path.slice(root.length)).filter((name) => name.startsWith(prefix))
  // Names that continue after the delimiter count as one.
  const grouped = (name: string): string => {
    const [first = '', ...rest] = name.slice(prefix.length).split(delimiter)
    return rest.length === 0 ? name : `${prefix}${first}${delimiter}`
  }
  const names = [...new Set(all.map(grouped))]
  const after = query.get('continuation-token') ?? ''
  const rest = names.sort().filter((name) => `<${name}>` > after)
  const page = rest.slice(0, namesOnPage)
  const contents = page.map((name) =>
    name.endsWith(delimiter)
      ? `<CommonPrefixes><Prefix>${name}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${name}</Key><Size>${objects.get(root + name)?.length ?? 0}</Size></Contents>`,
  )
  const isCut = rest.length > page.length
  const next = isCut ? `<NextContinuationToken>&lt;${page.at(-1) ?? ''}&gt;</NextContinuationToken>` : ''
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>${contents.join('')}${next}</ListBucketResult>`
}

/** Starts a small server of the part of S3 that is used. It verifies signatures and the hashes of bodies, as S3 does. */
export const startS3 = async (bucket = 'ledger'): Promise<S3Server> => {
  const objects = new Map<string, Buffer>()
  const answered: string[] = []
  const failures: number[] = []
  const answers: { status: number; body: string }[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://s3')
    const path = decodeURIComponent(pathname)
    const failure = failures.shift()
    if (failure !== undefined) {
      refuse(response, failure, 'SlowDown')
      return
    }
    const said = answers.shift()
    if (said) {
      response.writeHead(said.status, { 'content-type': 'application/xml' }).end(said.body)
      return
    }
    const wrong = objection(request)
    if (wrong !== undefined) {
      refuse(response, 403, wrong)
      return
    }
    if (!path.startsWith(`/${bucket}/`)) {
      refuse(response, 404, 'NoSuchBucket')
      return
    }
    const body = Buffer.concat(parts)
    if (sha256(body) !== request.headers['x-amz-content-sha256']) {
      refuse(response, 400, 'XAmzContentSHA256Mismatch')
      return
    }
    if (request.method === 'GET' && searchParams.get('list-type') === '2') {
      response.writeHead(200, { 'content-type': 'application/xml' }).end(listed(objects, bucket, searchParams))
    } else if (request.method === 'PUT') {
      if (request.headers['content-length'] === undefined) {
        refuse(response, 411, 'MissingContentLength')
        return
      }
      objects.set(path, body)
      response.writeHead(200).end()
    } else if (request.method === 'DELETE') {
      objects.delete(path)
      response.writeHead(204).end()
    } else {
      const found = objects.get(path)
      if (!found) {
        refuse(response, 404, 'NoSuchKey')
        return
      }
      response.writeHead(200, { 'content-length': String(found.length) }).end(found)
    }
  }
  const server = createServer((request, response) => {
    response.once('finish', () => answered.push(`${request.method ?? ''} ${response.statusCode}`))
    // A client that disconnects in the middle of a body has stored nothing.
    answer(request, response).catch(() => response.destroy())
  })
  // It would close an idle connection over which a request may just be on its way.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint = new URL(`http://127.0.0.1:${port}`)
  return {
    address: { bucket, prefix: 'blobs/', endpoint, region, keys },
    ...{ objects, answered, failures, answers },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
