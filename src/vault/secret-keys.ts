const wholeWords =
  /(^|_)(pass(code)?|secret|token|auth_key|account_key|signing_key|encryption_key|master_key|service_account(_json|_key)?|authorization|bearer|connection_string|dsn|cookie)$/

/** Plural and unseparated spellings, which people type all the same: `OPENAIAPIKEY`, `dbpassword`, `api_keys`. */
const partsOfWords =
  /password|passwd|passphrase|secrets?$|credential|pwd|api_?keys?$|access_?keys?$|private_?keys?$|secret_?keys?$|(?:access|auth|refresh|bearer|bot|session|api)_?tokens?$/

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
  return wholeWords.test(word) || partsOfWords.test(word) || partsOfWords.test(word.replaceAll('_', ''))
}

/** Whether a text is a URL that carries a password: `postgres://u:p@host`. */
export const hasUrlPassword = (text: string): boolean => /[a-z][a-z0-9+.-]*:\/\/[^\s/@]*:[^\s/@]+@/i.test(text)
