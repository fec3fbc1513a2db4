// `node scripts/run.mjs NAME [ARGUMENT...]`: installs, builds, and runs scripts/NAME.ts.
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ensureTestsBuilt, ROOT, run } from './ensure.mjs'

const [name, ...args] = process.argv.slice(2)

ensureInstalled()
ensureBuilt()
ensureTestsBuilt()
run(process.execPath, ['--enable-source-maps', join(ROOT, 'build', 'scripts', `${name}.js`), ...args], { stdout: 1 })
