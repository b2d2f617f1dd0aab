import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { packageRoot } from '../../setup/package.js'
import type { Call } from '../protocol/call.js'
import type { Reply } from '../protocol/reply.js'

/** Where the build puts the console. */
const folder = join(packageRoot, 'dist/console')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** The build puts compressed copies beside the files. The first one that a browser takes is sent. */
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** A page of the console calls only this service, and no other page may embed it. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const always = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  Vary: 'Accept, Accept-Encoding',
}

const accepted = (call: Call): ReadonlySet<string> =>
  new Set(
    (call.header('accept-encoding') ?? '')
      .split(',')
      .map((one) => one.split(';').map((part) => part.trim()))
      .filter(([, q]) => q === undefined || !/^q=0(?:\.0*)?$/.test(q))
      .map(([name = '']) => name.toLowerCase()),
  )

/** The files of a package do not change while it runs. Names without a file are not kept: anybody may ask for any number of them. */
const known = new Map<string, Buffer>()

const bytesOf = async (file: string): Promise<Buffer | undefined> => {
  const found = known.get(file) ?? (await readFile(join(folder, file)).catch(() => undefined))
  if (found) known.set(file, found)
  return found
}

const fileReply = async (call: Call, file: string, caching: string): Promise<Reply | undefined> => {
  const type = types[extname(file)]
  if (type === undefined) return undefined
  const takes = accepted(call)
  for (const [encoding, ending] of encodings) {
    const body = takes.has(encoding) ? await bytesOf(`${file}${ending}`) : undefined
    if (body) return { status: 200, type, body, headers: { ...always, 'Cache-Control': caching, 'Content-Encoding': encoding } }
  }
  const body = await bytesOf(file)
  return body && { status: 200, type, body, headers: { ...always, 'Cache-Control': caching } }
}

/** The page of the console; undefined where it was not built. A browser asks each time whether it is still this one. */
export const consolePage = (call: Call): Promise<Reply | undefined> => fileReply(call, 'index.html', 'no-cache')

/**
 * A file of the console. Its name has a hash of its content, so that caches may keep it forever; undefined if there is none.
 *
 * @example await consoleAsset(call, 'index-CvEuxkTW.js')
 */
export const consoleAsset = async (call: Call, name: string): Promise<Reply | undefined> =>
  /^[\w-]+(?:\.[\w-]+)+$/.test(name) ? fileReply(call, `assets/${name}`, 'public, max-age=31536000, immutable') : undefined
