import { egressOf } from './egress/settings.js'
import { LanguageModels } from './llm/language-models.js'
import type { Storage } from './open-storage.js'
import type { Config } from './setup/config.js'

/** The language models and embedders that this service may call. */
export const openLanguageModels = ({ config, storage: { log } }: { config: Config; storage: Storage }): LanguageModels =>
  new LanguageModels({
    egress: egressOf(config),
    environment: config.modelAccess,
    defaults: async (name) => (await log.resources.one('config', name))?.state.value,
    payload: (hash) => log.payload(hash),
  })
