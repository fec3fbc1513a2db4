// `npm run docs`: writes docs/configuration.md, docs/methods.md, docs/methods/ and the tables of docs/export.md and docs/sizing.md from the
// definitions.
import { join } from 'node:path'
import { ensureInstalled, ensureTestsBuilt, ROOT, run } from './ensure.mjs'

ensureInstalled()
ensureTestsBuilt()
run(process.execPath, [join(ROOT, 'build', 'tools', 'make-docs.js')])
