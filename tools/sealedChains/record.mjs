// record.mjs PORT HEAD GENESIS OUT [ADDRESS…]: records the chain of a node of GoQuorum 24.4.1 (geth with QBFT, IBFT and clique): blocks,
// receipts, traces, and balances of the addresses.
import fs from 'node:fs'
import { brotliCompressSync, constants } from 'node:zlib'

const [port, head, genesis, out, ...accounts] = process.argv.slice(2)
const rpc = async (m, ...params) => {
  const r = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: m, params }),
  })
  const j = await r.json()
  if (j.error) throw new Error(`${m} ${JSON.stringify(j.error)}`)
  return j.result
}
const hex = (n) => `0x${n.toString(16)}`
const lines = [
  JSON.stringify({
    genesis: JSON.parse(fs.readFileSync(genesis)),
    hash: (await rpc('eth_getBlockByNumber', '0x0', false)).hash,
  }),
]
for (let n = 1; n <= Number(head); n++) {
  let raw = await rpc('debug_getBlockRlp', n)
  if (!raw.startsWith('0x')) raw = `0x${raw}`
  const b = await rpc('eth_getBlockByNumber', hex(n), false)
  const receipts = [],
    traces = []
  for (const h of b.transactions) {
    const { status, cumulativeGasUsed, gasUsed, contractAddress, logs, type } = await rpc(
      'eth_getTransactionReceipt',
      h,
    )
    receipts.push({
      type,
      status,
      cumulativeGasUsed,
      gasUsed,
      contractAddress,
      logs: logs.map(({ address, topics, data }) => ({ address, topics, data })),
    })
    const { time, ...t } = await rpc('debug_traceTransaction', h, { tracer: 'callTracer' })
    for (const k of ['input', 'output']) if (t[k]) t[k] = t[k].slice(0, 200)
    traces.push(t)
  }
  const balances = {}
  for (const a of accounts) balances[a] = await rpc('eth_getBalance', a, hex(n))
  lines.push(JSON.stringify({ raw, hash: b.hash, receipts, traces, balances }))
}
const text = lines.join('\n')
fs.writeFileSync(
  out,
  brotliCompressSync(text, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
    },
  }),
)
console.log(lines.length - 1, 'blocks', text.length, fs.statSync(out).size)
