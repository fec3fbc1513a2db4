// `node scripts/run.mjs NAME [ARGUMENT...]`: installs, builds, and runs NAME.ts of bench/ or tools/, for example bench/logs/index.
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ensureTestsBuilt, ROOT, run } from './ensure.mjs'

const [name, ...args] = process.argv.slice(2)

ensureInstalled()
ensureBuilt()
ensureTestsBuilt()
run(process.execPath, ['--enable-source-maps', join(ROOT, 'build', `${name}.js`), ...args], { stdout: 1 })
