import * as z from 'zod'

const isAddress = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'https:' || protocol === 'http:') && username === '' && password === ''
}
const address = z.string().refine(isAddress, 'must be an address without a password, such as https://llm.example.com/v1')
const key = z.string().min(1)

/** Settings for the access to language models. Their names are those that the providers' own programs use. */
export const languageModelSettings = {
  OPENAI_API_KEY: key
    .optional()
    .describe('key for agents and embedders of the provider openai that have no key of their own. It goes to OPENAI_BASE_URL only'),
  OPENAI_BASE_URL: address
    .optional()
    .describe(
      'address of the provider openai for agents that name none, or of any server that speaks as it does; default https://api.openai.com/v1',
    ),
  OPENAI_API_BASE: address.optional().describe('older name of OPENAI_BASE_URL; if both are set, OPENAI_BASE_URL counts'),
  ANTHROPIC_API_KEY: key.optional().describe('the same for the provider anthropic. It goes to ANTHROPIC_BASE_URL only'),
  ANTHROPIC_BASE_URL: address.optional().describe('its address; default https://api.anthropic.com/v1'),
  AZURE_OPENAI_API_KEY: key.optional().describe('the same for the provider azure_openai. It goes to AZURE_OPENAI_ENDPOINT only'),
  AZURE_OPENAI_ENDPOINT: address.optional().describe('its address, as https://<resource>.openai.azure.com'),
  AZURE_OPENAI_API_VERSION: z
    .string()
    .regex(/^[\w.-]{1,40}$/, 'must be a version such as 2024-10-21')
    .optional()
    .describe('version of its interface; without it the one at /openai/v1 is called'),
  GOOGLE_API_KEY: key.optional().describe('the same for the provider google (Gemini)'),
  OLLAMA_BASE_URL: address.optional().describe('address of an Ollama; default http://127.0.0.1:11434/v1'),
}

type Settings = z.infer<z.ZodObject<typeof languageModelSettings>>

/** The settings of one provider in the environment. */
export type ProviderAccess = { apiKey?: string; address?: string; apiVersion?: string }
export type ModelAccess = Readonly<Record<string, ProviderAccess>>

const access = (apiKey: string | undefined, at: string | undefined, apiVersion?: string): ProviderAccess => ({
  ...(apiKey !== undefined && { apiKey }),
  ...(at !== undefined && { address: at }),
  ...(apiVersion !== undefined && { apiVersion }),
})

/** The settings by provider; a provider without settings is left out. */
export const readModelAccess = (s: Settings): ModelAccess => {
  const all = {
    openai: access(s.OPENAI_API_KEY, s.OPENAI_BASE_URL ?? s.OPENAI_API_BASE),
    anthropic: access(s.ANTHROPIC_API_KEY, s.ANTHROPIC_BASE_URL),
    azure_openai: access(s.AZURE_OPENAI_API_KEY, s.AZURE_OPENAI_ENDPOINT, s.AZURE_OPENAI_API_VERSION),
    google: access(s.GOOGLE_API_KEY, undefined),
    ollama: access(undefined, s.OLLAMA_BASE_URL),
  }
  return Object.fromEntries(Object.entries(all).filter(([, given]) => Object.keys(given).length > 0))
}
