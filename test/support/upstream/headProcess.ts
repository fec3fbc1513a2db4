import { readFileSync } from 'node:fs'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { measureRlp } from '../../../src/chain/eth/rlp.js'
import { noProgress } from '../../../src/lib/progress.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { rewindChain } from '../../../src/sync/rewindChain.js'
import { openBranches } from '../chains/branches.js'

/* A program that changes a chain: `node headProcess.js DATADIR ANCESTOR [BRANCH.rlp]`. It says `ready` before it
 * begins. With a branch it replaces the blocks above the ancestor, without one it removes them. */

const [, , datadir, ancestor, path] = process.argv
const { db, chain } = await openBranches(datadir)
process.stdout.write('ready\n')
if (path === undefined) await rewindChain(chain, Number(ancestor), { startProgress: () => noProgress })
else {
  const bytes = new Uint8Array(readFileSync(path))
  const branch = []
  for (let at = 0; at < bytes.length; ) {
    const { end } = measureRlp(bytes, at)!
    branch.push({ block: decodeBlock(bytes.subarray(at, end)) })
    at = end
  }
  await replaceBranch(chain, Number(ancestor), branch)
}
db.close()
