import { isDoubtfulKey, isSecretKey } from './secret-keys.js'

/** Ordinary words, perhaps with a number behind them: `none`, `oauth2`, `chat-history`. */
const plainWords = /^[a-z]+(?:[ _.-][a-z]+)*[ _.-]?\d*$/i

/**
 * Whether a text looks like a secret that somebody made up: one word of some length that mixes letters and digits, or a user with a
 * password. `looksSecret('hG7x-22kq')` → true, `looksSecret('oauth2')` → false
 */
export const looksSecret = (text: string): boolean => {
  if (text.length > 10_000 || /\s/.test(text) || plainWords.test(text)) return false
  return /^[^:/]+:[^:/]{3,}$/.test(text) || (text.length >= 8 && /\p{L}/u.test(text) && /\d/.test(text))
}

/** Prefixes that vendors give their keys so that they can be found: OpenAI, GitHub, GitLab, Slack, Google, Stripe and others. */
const knownForms = new RegExp(
  [
    /\bsk-(?:[a-z0-9]+-){0,3}[A-Za-z0-9_]{20,}/,
    /\b(?:gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,})/,
    /\bxox[abeoprs]-[\w-]{10,}/,
    /\bAIza[\w-]{35}/,
    /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/,
    /\bSG\.[\w-]{16,}\.[\w-]{16,}/,
    // A token of JSON is looked for at its first point: from each of its beginnings, the search would be quadratic.
    /\.(?<=\beyJ[\w-]{8,}\.)eyJ[\w-]{8,}\.[\w-]{8,}/,
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/,
    /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/\w/,
    /\bdiscord(?:app)?\.com\/api\/webhooks\/\d/,
    /\bapi\.telegram\.org\/bot\d/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/** Whether a text names a secret where a pattern finds names. One by one, since a megabyte may hold a quarter of a million of them. */
const namesSecret = (text: string, pattern: RegExp): boolean => {
  for (const [, name = ''] of text.matchAll(pattern)) if (isSecretKey(name)) return true
  return false
}

const authority = /[^\s/]*/y
/** The value is looked at and not passed: a URL in it may have parameters of its own. */
const parameters = /[?&;#]([^=?&;#\s]{1,100})=(?=([^&;\s*][^&;\s]{0,200}))/g
/** Names that services give a key in their URLs, and others something else. */
const oftenKeys = /^(?:key|sig|signature)$/i
/** A user and a colon without a port: the text up to the next @ is a password, even with slashes and spaces in it. */
const userAndColon = /[^\s/:@]{1,200}:(?!\d*(?:[/?#@\s]|$))/y

/** `user%5B%5D` → `user[]`; a malformed text stays as it is. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/** Whether the parameters of URLs in a text carry a secret: by the name, or by what stands under a name that keys often have. */
const hasSecretParameter = (text: string): boolean => {
  for (const [, name = '', value = ''] of text.matchAll(parameters))
    if (isSecretKey(decoded(name)) || (oftenKeys.test(name) && looksSecret(value))) return true
  return false
}

/** Whether what follows `//` begins with a user and a password. */
const hasPasswordAt = (text: string, at: number, lastAt: number): boolean => {
  authority.lastIndex = at
  const [found = ''] = authority.exec(text) ?? []
  const colon = found.indexOf(':')
  if (colon >= 0 && found.lastIndexOf('@') > colon + 1) return true
  userAndColon.lastIndex = at
  return lastAt > at && userAndColon.test(text) && lastAt > userAndColon.lastIndex
}

/** `https://k3y@github.com`: over HTTP a user without a password is a token, unless it is a word. */
const hasTokenAt = (text: string, at: number): boolean => {
  if (!/https?:\/\/$/i.test(text.slice(Math.max(0, at - 8), at))) return false
  authority.lastIndex = at
  const [found = ''] = authority.exec(text) ?? []
  const end = found.indexOf('@')
  return end > 0 && looksSecret(found.slice(0, end))
}

/**
 * Whether a text holds a URL that carries a password: `postgres://u:p@host`, `https://host/?api_key=k`. The time grows with the text:
 * a single regular expression would take minutes for a maliciously chosen megabyte.
 */
export const hasUrlPassword = (written: string): boolean => {
  if (!written.includes('//') && !written.includes('\\/')) return false
  // JSON may escape its slashes.
  const text = written.replaceAll('\\/', '/')
  const lastAt = text.lastIndexOf('@')
  if (text.startsWith('//') && hasPasswordAt(text, 2, lastAt)) return true
  const first = text.indexOf('://', 1)
  for (let at = first; at >= 0; at = text.indexOf('://', at + 3))
    if (/[a-z0-9+.-]/i.test(text.charAt(at - 1)) && (hasPasswordAt(text, at + 3, lastAt) || hasTokenAt(text, at + 3))) return true
  return first >= 0 && hasSecretParameter(text)
}

const assignment = /(?:^|[\s;,&])([\p{L}\w.-]{1,100})\s{0,4}=\s{0,4}['"]?[^\s;,&'"*]/gu
/** The first name may have spaces in it: `Data Source=h;Password=p`. */
const firstAssignment = /^[\p{L}\w.-]{1,100}(?: [\p{L}\w.-]{1,100}){0,2}\s{0,4}=/u
const header = /^([\p{L}\w-]{1,100}):\s{0,4}(?:(?:bearer|basic|token|digest|apikey|bot)\s+([^\s*]\S*)|(\S+))\s*$/iu
const option = /(?:^|\s)--?([\p{L}\w-]{1,100})(?:=|\s+)[^\s*-]/gu
const scheme = /^(?:bearer|basic)\s+(\S+)$/i
const userAtHost =
  /^([^\s:@/]{1,100}):[^\s@/]{1,1000}@(?:localhost|(?:\d{1,3}\.){3}\d{1,3}|[\w.-]{1,255}(?:\.[a-z]{2,}|(?=[:/])))(?::\d+)?(?:\/\S*)?$/i
/** Words before a colon and an @ that are not a user. */
const otherSchemes = /^(?:mailto|sip|sips|xmpp|acct|npm|jsr|docker|oci|git|image|im)$/i

/** `host=h password=p`, `Server=h;Pwd=p`, `API_KEY=k`, `Authorization: Bearer k`, `--password p`. */
const lineHasSecret = (line: string): boolean => {
  if (!/[=:-]/.test(line)) return false
  if (line.includes('=') && firstAssignment.test(line) && namesSecret(line, assignment)) return true
  const [, name = '', credentials, word] = (line.includes(':') && header.exec(line)) || []
  if (isSecretKey(name) && (credentials !== undefined || looksSecret(word ?? ''))) return true
  return line.includes('-') && namesSecret(line, option)
}

const hasSecretMember = (value: unknown, key: string): boolean => {
  if (typeof value === 'string') return value !== '' && (isSecretKey(key) || holdsSecretOf(key, value))
  if (typeof value !== 'object' || value === null) return typeof value === 'number' && isSecretKey(key)
  // A list may be long, and its items have no keys of their own.
  if (Array.isArray(value)) return value.some((item) => hasSecretMember(item, key))
  return Object.entries(value).some(([name, member]) => hasSecretMember(member, name))
}

/** Whether a text is JSON with a secret in it. */
const jsonHasSecret = (text: string): boolean => {
  if (!/^\s*[{[]/.test(text) || !/[}\]]\s*$/.test(text)) return false
  try {
    return hasSecretMember(JSON.parse(text), '')
  } catch (error) {
    // A value that is nested too deeply cannot be checked, so it counts as a secret.
    return error instanceof RangeError
  }
}

/** Every form of secret contains one of these. A statement may have 50,000 texts, and nearly all of them contain none. */
const marks = /[-_./\\@=:{[\s]|AIza/

/**
 * Whether a text holds a secret, whatever its key is called: a URL or a connection string with a password, a private key, a header,
 * an option of a command, JSON with a secret key in it, or a key in a known form.
 *
 * @example holdsSecret('host=h user=u password=p') // true
 */
export const holdsSecret = (text: string): boolean => {
  if (text.length < 5 || !marks.test(text)) return false
  if (knownForms.test(text) || hasUrlPassword(text)) return true
  const word = text.trim()
  if (looksSecret(scheme.exec(word)?.[1] ?? '')) return true
  const [, user = ''] = (word.includes('@') && userAtHost.exec(word)) || []
  if (user !== '' && !otherSchemes.test(user)) return true
  return (text.includes('\n') ? text.split('\n') : [word]).some((line) => lineHasSecret(line.trim())) || jsonHasSecret(text)
}

/** Whether a text under a key is a secret because of its content; secret keys are tested elsewhere. */
export const holdsSecretOf = (key: string, text: string): boolean => holdsSecret(text) || (isDoubtfulKey(key) && looksSecret(text))
