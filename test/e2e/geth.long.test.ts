import { execFileSync } from 'node:child_process'
import { type TestContext, test } from 'node:test'
import { formatQuantity } from '../../src/lib/hex.js'
import { spawnProgram } from '../support/cairn.js'
import { checkFollowing, type Peer } from '../support/followPeer.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

function gethOnPath(): string | undefined {
  try {
    return execFileSync('which', ['geth'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

const geth = gethOnPath()
const skip = geth === undefined && 'geth is not on the PATH'
const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

/** `geth --dev`, which mines each transaction at once, or with a period all that came in it. */
async function startPeer(t: TestContext, args: readonly string[] = []): Promise<Peer> {
  const http = ['--http', '--http.port', '0', '--http.api', 'eth,debug,net,web3']
  const ws = ['--ws', '--ws.port', '0', '--ws.api', 'eth,debug']
  const rest = ['--nodiscover', '--port', '0', '--authrpc.port', '0', '--ipcdisable', '--gcmode', 'archive']
  const running = spawnProgram(geth!, ['--dev', '--datadir', temporaryDirectory(t), ...http, ...ws, ...rest, ...args])
  t.after(async () => {
    running.child.kill('SIGINT')
    await running.ended
  })
  const [, address] = await running.waitFor('stderr', /HTTP server started\s+endpoint=(127\.0\.0\.1:\d+) auth=false/)
  const [, wsUrl] = await running.waitFor('stderr', /WebSocket enabled\s+url=(ws:\/\/127\.0\.0\.1:\d+)/)
  const url = `http://${address}`
  const [from] = await resultOf<string[]>(url, 'eth_accounts')
  const mineOne = async (transaction: object): Promise<string> => {
    const hash = await resultOf<string>(url, 'eth_sendTransaction', [{ from, ...transaction }])
    // Null until it is mined; an error while geth indexes.
    while (!(await ask(url, 'eth_getTransactionReceipt', [hash])).result) await pause()
    return hash
  }
  return {
    url,
    wsUrl,
    mine: async (transactions) => {
      const hashes: string[] = []
      for (const each of transactions) hashes.push(await mineOne(each))
      return hashes
    },
    reorg: async (depth) => {
      const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
      await resultOf(url, 'debug_setHead', [formatQuantity(head - depth)])
    },
    faults: /^$/,
  }
}

test('geth --dev is followed through 500 blocks and debug_setHead by 1, 5 and 64 blocks, and every answer is its own', {
  skip,
}, async (t) => {
  await checkFollowing(t, await startPeer(t), { blocks: 500, depths: [1, 5, 64] })
})

test('geth --dev is followed with a block a second', { skip }, async (t) => {
  await checkFollowing(t, await startPeer(t, ['--dev.period', '1']), { blocks: 10, depths: [2] })
})
