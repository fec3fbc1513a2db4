import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { measureRlp } from '../../src/chain/eth/rlp.js'
import { packagePath } from '../../src/store/open.js'
import { spawnNode, startDefaultCairn } from '../../test/support/cairn.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { SKIP_GETH, startFullGeth } from '../../test/support/upstream/geth.js'
import { writtenBytes } from '../lib/writtenBytes.js'
import type { Server } from './askServer.js'
import type { EvmRun } from './options.js'
import { makeStateChain } from './state.js'

/** Cairn and the full geth that it follows, with the same blocks. */
export interface GethPair {
  readonly cairn: Server
  readonly geth: Server
  readonly head: number
  /** The last block that the state grew with. */
  readonly grown: number
  readonly writes: GethWrites
}

/** Bytes that each program wrote for a block that came alone, mean of all. */
export interface GethWrites {
  readonly blocks: number
  readonly accountsPerBlock: number
  readonly cairn: number
  readonly geth: number
}

const POLL_MS = 20

/** Starts geth and Cairn with a state of `--accounts` accounts, and gives geth the blocks that change it one by one,
 *  each once Cairn has the one before. @throws Error without geth */
export async function openGethPair(run: EvmRun): Promise<GethPair> {
  if (SKIP_GETH !== false) throw new Error(SKIP_GETH)
  const { updates, 'update-blocks': updateBlocks } = run.values
  process.stderr.write('making blocks\n')
  const { directory, files, genesis, grown } = await run.once(makeStateChain)
  const datadir = join(directory, 'cairn')
  const main = packagePath('dist/cli/main.js')
  const imported = await spawnNode([main, 'import', '--datadir', datadir, '--genesis', genesis, files.growth]).ended
  if (imported.code !== 0) throw new Error(imported.stderr)
  const geth = await startFullGeth(run, { genesis })
  await geth.import(files.growth)
  // With geth's zero hashes for accounts that do not exist.
  const args = ['--open', '--compat', 'geth', '--datadir', datadir, '--upstream', geth.url]
  const { url, running } = await startDefaultCairn(run, args)
  const [cairnPid, gethPid] = [running.child.pid!, geth.pid()]
  const countBytes = () => [writtenBytes(cairnPid), writtenBytes(gethPid)]
  const before = countBytes()
  let number = grown
  const path = join(directory, 'block.rlp')
  for (const block of splitBlocks(readFileSync(files.updates))) {
    writeFileSync(path, block)
    await geth.import(path)
    number++
    while (Number(await resultOf<string>(url, 'eth_blockNumber')) < number) await delay(POLL_MS)
    process.stderr.write(`\rfollowed ${number - grown} of ${updateBlocks} blocks\x1b[K`)
  }
  process.stderr.write('\n')
  const [cairnBytes, gethBytes] = countBytes().map((bytes, i) => (bytes - before[i]) / updateBlocks)
  return {
    cairn: { url, pid: cairnPid },
    geth: { url: geth.url, pid: gethPid },
    ...{ head: number, grown },
    writes: { blocks: updateBlocks, accountsPerBlock: updates, cairn: cairnBytes, geth: gethBytes },
  }
}

/** The blocks of a file of RLP blocks, each as its bytes. */
function* splitBlocks(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const { end } = measureRlp(bytes, at)!
    yield bytes.subarray(at, end)
    at = end
  }
}
