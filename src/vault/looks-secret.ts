import { isDoubtfulKey, isSecretKey } from './secret-keys.js'

/** Ordinary words, with an optional number at the end: `none`, `oauth2`, `chat-history`. */
const plainWords = /^[a-z]+(?:[ _.-][a-z]+)*[ _.-]?\d*$/i

/**
 * Whether a text looks like a generated secret: a single word of some length with letters and digits, or a user with a password.
 * `looksSecret('hG7x-22kq')` → true, `looksSecret('oauth2')` → false
 */
export const looksSecret = (text: string): boolean => {
  if (text.length > 10_000 || /\s/.test(text) || plainWords.test(text)) return false
  return /^[^:/]+:[^:/]{3,}$/.test(text) || (text.length >= 8 && /\p{L}/u.test(text) && /\d/.test(text))
}

/**
 * The prefixes of vendors' keys, which make them easy to find: OpenAI, Anthropic, Groq, GitHub, GitLab, Slack, Google, Stripe and others.
 * The console has the same in `src/console/basics/secrets.ts`.
 */
export const keyForms: readonly RegExp[] = [
  /\bsk-(?:[a-z0-9]+-){0,3}[A-Za-z0-9_]{20,}/,
  // Such keys may have hyphens at any place. A name such as `sk-learn-…` has no capital letter and no digit.
  /\b(?:sk-|xai-|pplx-|nvapi-|tvly-)(?=[\w-]{0,80}\d)(?=[\w-]{0,80}[A-Z])[\w-]{20,}/,
  /\b(?:gsk_|r8_)[A-Za-z0-9]{30,}/,
  /\b(?:gh[opsur]_[A-Za-z0-9]{30,}|github_pat_\w{30,}|glpat-[\w-]{20,}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{30,})/,
  /\bxox[a-z]-[\w%-]{10,}/,
  /\bxapp-\d-[\w-]{10,}/,
  /\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,})/,
  /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/,
  /\bSG\.[\w-]{16,}\.[\w-]{16,}/,
  /\bwhsec_[\w+/=-]{16,}/,
  /\b(?:shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}|do[opr]_v1_[a-f0-9]{64}|sbp_[a-f0-9]{40}|lin_api_[A-Za-z0-9]{32,}|dapi[a-f0-9]{32})/,
  // Telegram and Discord write the number of a bot first: Telegram in digits, Discord in base64.
  /\b\d{8,10}:AA[\w-]{33}/,
  /\b[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/,
  // A JSON web token is searched from its first point: a search from each possible beginning would take quadratic time.
  /\.(?<=\beyJ[\w-]{8,}\.)eyJ[\w-]{8,}\.[\w-]{8,}/,
]
const knownForms = new RegExp(
  [
    ...keyForms,
    /-----BEGIN [A-Z ]{0,30}PRIVATE KEY/,
    /\bhooks\.slack\.com\/(?:services|workflows|triggers)\/\w/,
    /\bdiscord(?:app)?\.com\/api\/webhooks\/\d/,
    /\bapi\.telegram\.org\/bot\d/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

/**
 * Whether a pattern that finds names finds the name of a secret. It tests the names one by one, because a megabyte may have 250,000 of
 * them.
 */
const namesSecret = (text: string, pattern: RegExp): boolean => {
  for (const [, name = ''] of text.matchAll(pattern)) if (isSecretKey(name)) return true
  return false
}

const authority = /[^\s/]*/y
/** The pattern looks ahead at the value but does not consume it, because a URL in the value may have parameters of its own. */
const parameters = /[?&;#]([^=?&;#\s]{1,100})=(?=([^&;\s*][^&;\s]{0,200}))/g
/** Parameter names that some services use for keys, and others for something else. */
const oftenKeys = /^(?:key|sig|signature)$/i
/** A user and a colon without a port: the text up to the next @ is a password, even if it contains slashes and spaces. */
const userAndColon = /[^\s/:@]{1,200}:(?!\d*(?:[/?#@\s]|$))/y

/** `user%5B%5D` → `user[]`; a malformed text stays as it is. */
const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

/**
 * Whether parameters of URLs in a text contain a secret: because of the name, or because of the value under a name that may stand for a
 * key.
 */
const hasSecretParameter = (text: string): boolean => {
  for (const [, name = '', value = ''] of text.matchAll(parameters))
    if (isSecretKey(decoded(name)) || (oftenKeys.test(name) && looksSecret(value))) return true
  return false
}

/** Whether the text after `//` begins with a user and a password. */
const hasPasswordAt = (text: string, at: number, lastAt: number): boolean => {
  authority.lastIndex = at
  const [found = ''] = authority.exec(text) ?? []
  const colon = found.indexOf(':')
  if (colon >= 0 && found.lastIndexOf('@') > colon + 1) return true
  userAndColon.lastIndex = at
  return lastAt > at && userAndColon.test(text) && lastAt > userAndColon.lastIndex
}

/** `https://k3y@github.com`: over HTTP a user without a password is a token, unless it is an ordinary word. */
const hasTokenAt = (text: string, at: number): boolean => {
  if (!/https?:\/\/$/i.test(text.slice(Math.max(0, at - 8), at))) return false
  authority.lastIndex = at
  const [found = ''] = authority.exec(text) ?? []
  const end = found.indexOf('@')
  return end > 0 && looksSecret(found.slice(0, end))
}

/**
 * Whether a text contains a URL with a password: `postgres://u:p@host`, `https://host/?api_key=k`. The time is linear in the length of the
 * text; a single regular expression could take minutes for a malicious megabyte.
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
/** The first name may contain spaces: `Data Source=h;Password=p`. */
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

/** Whether a text is JSON that contains a secret. */
const jsonHasSecret = (text: string): boolean => {
  if (!/^\s*[{[]/.test(text) || !/[}\]]\s*$/.test(text)) return false
  try {
    return hasSecretMember(JSON.parse(text), '')
  } catch (error) {
    // A value with too many nested levels cannot be checked, so it counts as a secret.
    return error instanceof RangeError
  }
}

/** Every form of secret contains one of these. A statement may have 50,000 texts, and nearly all of them contain none. */
const marks = /[-_./\\@=:{[\s]|AIza|dapi/

/**
 * Whether a text contains a secret, whatever its key is: a URL or a connection string with a password, a private key, a header, a
 * command-line option, JSON with a secret key, or a key in a known form.
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
