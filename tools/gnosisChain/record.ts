import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { encodeBlock } from '../../src/chain/eth/block.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { packagePath } from '../../src/store/open.js'
import { resultOf } from '../../test/support/rpcClient.js'
import { temporaryDirectory } from '../../test/support/temporary.js'
import { serveWithGeth } from '../../test/support/upstream/geth.js'
import { buildGnosisChain, WATCHED_ACCOUNTS } from './buildGnosisChain.js'
import { WITHDRAWAL_CONTRACT } from './contracts.js'

/* Writes test/support/chains/gnosis/chain.ndjson.br: a chain that geth of Gnosis (github.com/gnosischain/go-ethereum,
 * v1.16.3-gc) imports with full validation, and what it answers. Needs that program on the PATH as gnosis-geth. */

const SEED = 34
const WITHDRAWN = formatData(WITHDRAWAL_CONTRACT)

const ends: (() => void | Promise<void>)[] = []
const t = { after: (end: () => void | Promise<void>) => void ends.unshift(end) }
try {
  await record()
} finally {
  for (const end of ends) await end()
}

async function record(): Promise<void> {
  const folder = temporaryDirectory(t)
  const { genesis, cast, builder } = await buildGnosisChain(t, join(folder, 'own'), SEED)
  const [genesisFile, chainFile] = [join(folder, 'genesis.json'), join(folder, 'chain.rlp')]
  writeFileSync(genesisFile, JSON.stringify(genesis))
  writeFileSync(chainFile, builder.encode())
  const datadir = join(folder, 'geth')
  const url = await serveWithGeth(t, { datadir, genesis: genesisFile, chain: chainFile, program: 'gnosis-geth' })
  const head = Number(await resultOf<string>(url, 'eth_blockNumber', []))
  if (head !== builder.blocks.length) throw new Error(`gnosis-geth has ${head} of ${builder.blocks.length} blocks`)
  const [{ hash }] = [await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', ['0x0', false])]
  const lines: object[] = [{ genesis, hash }]
  for (const block of builder.blocks) {
    const id = formatQuantity(block.header.number)
    const tracer = { tracer: 'callTracer', tracerConfig: { withLog: true } }
    const traced = await resultOf<{ result: object }[]>(url, 'debug_traceBlockByNumber', [id, tracer])
    const balances: Record<string, string> = {}
    for (const address of WATCHED_ACCOUNTS.map(formatData)) {
      balances[address] = await resultOf(url, 'eth_getBalance', [address, id])
    }
    const slot = (address: string) => resultOf<string>(url, 'eth_getStorageAt', [WITHDRAWN, address, id])
    const withdrawn: Record<string, string> = {}
    for (const address of ['0x0', '0x1', ...Object.keys(balances)]) withdrawn[address] = await slot(address)
    const calls = []
    for (const to of Object.values(cast.contracts)
      .slice(block.header.number % 4, 8)
      .map(formatData)) {
      const request = { from: formatData(cast.senders[0].address), to, data: `0x${'00'.repeat(32)}` }
      const estimated = await resultOf<string>(url, 'eth_estimateGas', [request, id]).catch(() => null)
      if (estimated !== null) calls.push({ request, estimate: estimated })
    }
    const { hash } = await resultOf<{ hash: string }>(url, 'eth_getBlockByNumber', [id, false])
    lines.push({
      raw: formatData(encodeBlock(block)),
      hash,
      traces: traced.map(({ result }) => result),
      balances,
      withdrawn,
      calls,
    })
  }
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  const bytes = brotliCompressSync(text)
  writeFileSync(packagePath('test/support/chains/gnosis/chain.ndjson.br'), bytes)
  console.log(
    `${head} blocks, ${builder.blocks.flatMap(({ transactions }) => transactions).length} transactions, ${bytes.length} bytes`,
  )
}
