// `npm run build`: the packages and dist/.
import { ensureBuilt, ensureInstalled } from './ensure.mjs'

ensureInstalled()
ensureBuilt()
