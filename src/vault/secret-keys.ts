/** Words that say "secret" at the end of a key, also without a separator (`dbpassword`); in the plural and numbered, too. */
const telling =
  /((password|passwd|passphrase|pwd|secret|credential|(api|access|private|secret|auth|account|signing|encryption|master)_?key)s?|token|(access|auth|refresh|bearer|bot|session|api)_?tokens)[_\d]*$/
/** Words that do so only when they stand alone: `pass` is one, `bypass` is not. */
const alone = /(^|_)(pass(code)?|service_account(_json|_key)?|credentials_json|authorization|bearer|connection_string|dsn|cookie)[_\d]*$/

/** `apiKey`, `API-KEY` and ` openai_api_key ` are one kind of word. */
const normalise = (key: string) =>
  key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '')

/** Whether a value under this key is a secret: `openai_api_key` is, `max_tokens` is not. */
export const isSecretKey = (key: string): boolean => {
  const word = normalise(key)
  return telling.test(word) || alone.test(word)
}

const authority = /[^\s/]*/y
const parameters = /[?&;]([^=?&;\s]{1,100})=[^&;\s]/g

const hasPassword = (found: string): boolean => {
  const colon = found.indexOf(':')
  return colon >= 0 && found.lastIndexOf('@') > colon + 1
}

/**
 * Whether a text holds a URL that carries a password: `postgres://u:p@host`, `https://host/?api_key=k`. In time that grows
 * with the text: one regular expression for the whole would take minutes for a megabyte that somebody chose badly.
 */
export const hasUrlPassword = (text: string): boolean => {
  const first = text.indexOf('://', 1)
  for (let at = first; at >= 0; at = text.indexOf('://', at + 3)) {
    authority.lastIndex = at + 3
    const [found = ''] = authority.exec(text) ?? []
    if (hasPassword(found) && /[a-z0-9+.-]/i.test(text.charAt(at - 1))) return true
  }
  return first >= 0 && [...text.matchAll(parameters)].some(([, name = '']) => isSecretKey(name))
}
