// `npm run build`: the packages and dist/. --fresh makes dist/ anew, so that a tarball holds nothing of an older build.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, ROOT } from './ensure.mjs'

if (process.argv.includes('--fresh')) rmSync(join(ROOT, 'dist'), { recursive: true, force: true })
ensureInstalled()
ensureBuilt()
