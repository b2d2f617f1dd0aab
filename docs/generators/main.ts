import { writeFileSync } from 'node:fs'
import { docsFolder, pages } from './pages.js'

for (const [file, text] of Object.entries(pages())) writeFileSync(new URL(file, docsFolder), text)
