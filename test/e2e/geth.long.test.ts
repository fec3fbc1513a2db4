import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createSender } from '../../scripts/fixture/chainBuilder.js'
import { encodeTransaction, signTransaction } from '../../src/chain/eth/transaction.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { listAsks } from '../support/allAnswers.js'
import { type CairnServer, spawnProgram, startCairn } from '../support/cairn.js'
import { compareAnswers } from '../support/compareAnswers.js'
import { createGenesis } from '../support/genesisChain.js'
import type { RecordedAnswer } from '../support/recordings.js'
import { ask, resultOf } from '../support/rpcClient.js'
import { temporaryDirectory } from '../support/temporary.js'

const SENDER = createSender('geth test')
// Counts in slot 0, and logs its call data with the first word as topic.
const LOGGER = '0x00000000000000000000000000000000000010aa'
const LOGGER_CODE = '0x366000600037600054600101600055600035366000a100'

function gethOnPath(): string | undefined {
  try {
    return execFileSync('which', ['geth'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** `geth --dev`, which mines each transaction at once. @returns its URLs */
async function startGeth(t: TestContext, geth: string, genesis: string): Promise<{ url: string; wsUrl: string }> {
  const datadir = temporaryDirectory(t)
  execFileSync(geth, ['init', '--datadir', datadir, genesis], { stdio: 'ignore' })
  const http = ['--http', '--http.port', '0', '--http.api', 'eth,debug,net,web3']
  const ws = ['--ws', '--ws.port', '0', '--ws.api', 'eth,debug']
  const rest = ['--nodiscover', '--port', '0', '--authrpc.port', '0', '--ipcdisable', '--gcmode', 'archive']
  const running = spawnProgram(geth, ['--dev', '--datadir', datadir, ...http, ...ws, ...rest])
  t.after(async () => {
    running.child.kill('SIGINT')
    await running.ended
  })
  const [, url] = await running.waitFor('stderr', /HTTP server started\s+endpoint=(127\.0\.0\.1:\d+) auth=false/)
  const [, wsUrl] = await running.waitFor('stderr', /WebSocket enabled\s+url=(ws:\/\/127\.0\.0\.1:\d+)/)
  return { url: `http://${url}`, wsUrl }
}

async function mine(url: string, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    const before = await resultOf<string>(url, 'eth_blockNumber')
    const nonce = BigInt(await resultOf<string>(url, 'eth_getTransactionCount', [formatData(SENDER.address), 'latest']))
    const unsigned = {
      ...{ type: 2 as const, chainId: 1337n, nonce, gasLimit: 200_000n, value: 0n, accessList: [] },
      ...{ maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n },
      to: new Uint8Array(Buffer.from(LOGGER.slice(2), 'hex')),
      input: crypto.getRandomValues(new Uint8Array(32 + (i % 40))),
    }
    const raw = encodeTransaction(signTransaction(unsigned, SENDER.privateKey))
    await resultOf(url, 'eth_sendRawTransaction', [formatData(raw)])
    while ((await resultOf<string>(url, 'eth_blockNumber')) === before) await pause()
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10))

/** Waits for geth's head, then fails unless every block, receipt, log, account and call is geth's. */
async function compareWithGeth(server: CairnServer, url: string, datadir: string): Promise<void> {
  const { hash } = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])
  const own = async () => (await resultOf<{ hash: string }>(server.url, 'eth_getBlockByNumber', ['latest', false])).hash
  while ((await own()) !== hash) await pause()
  const differing = /^(eth_syncing|eth_gasPrice|eth_maxPriorityFeePerGas|eth_feeHistory)$/
  const asks = listAsks(datadir).filter(({ method }) => /^(eth|debug)_/.test(method) && !differing.test(method))
  for (const { method, params } of asks) {
    const [wanted, found] = (await Promise.all(
      [url, server.url].map((each) => ask(each, method, params)),
    )) as RecordedAnswer[]
    assert.deepEqual(compareAnswers(wanted, found), [], `${method} ${JSON.stringify(params)}`)
  }
}

const geth = gethOnPath()
test('geth --dev is followed through debug_setHead, and every answer is its own', {
  skip: geth === undefined && 'geth is not on the PATH',
}, async (t) => {
  const alloc = {
    [formatData(SENDER.address)]: { balance: '0xd3c21bcecceda1000000' },
    [LOGGER]: { balance: '0x0', code: LOGGER_CODE },
  }
  const genesis = join(temporaryDirectory(t), 'genesis.json')
  writeFileSync(genesis, JSON.stringify(createGenesis(alloc, { forks: 'cancun' })))
  const { url, wsUrl } = await startGeth(t, geth!, genesis)
  await mine(url, 40)
  const datadir = temporaryDirectory(t)
  const server = await startCairn(t, ['--datadir', datadir, '--genesis', genesis, '--open', '--upstream', wsUrl])
  await compareWithGeth(server, url, datadir)
  for (const depth of [1, 5, 12]) {
    await mine(url, 14)
    await compareWithGeth(server, url, datadir)
    const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
    await resultOf(url, 'debug_setHead', [formatQuantity(head - depth)])
    await mine(url, depth + 1)
    await compareWithGeth(server, url, datadir)
  }
  const { following } = (await (await fetch(`${server.url}/health`)).json()) as { following: { reorgs: number } }
  assert.equal(following.reorgs, 3)
})
