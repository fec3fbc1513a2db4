import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startCairn } from '../support/cairn.js'
import { resultOf } from '../support/rpcClient.js'
import { SKIP_SHARED, sharedPath } from '../support/shared.js'
import { temporaryDirectory } from '../support/temporary.js'
import { THOROUGH } from '../support/thorough.js'
import { SKIP_GETH, serveWithGeth } from '../support/upstream/geth.js'

/** By name: the configuration of a trace. */
const CONFIGS: Record<string, object> = {
  'struct logs': {},
  'struct logs with memory and return data': { enableMemory: true, enableReturnData: true },
  callTracer: { tracer: 'callTracer' },
  'callTracer with logs': { tracer: 'callTracer', tracerConfig: { withLog: true } },
  'callTracer of the first call': { tracer: 'callTracer', tracerConfig: { onlyTopCall: true, withLog: true } },
  prestateTracer: { tracer: 'prestateTracer' },
  'prestateTracer of differences': { tracer: 'prestateTracer', tracerConfig: { diffMode: true } },
  'prestateTracer without code and storage': {
    tracer: 'prestateTracer',
    tracerConfig: { diffMode: true, disableCode: true, disableStorage: true },
  },
  flatCallTracer: { tracer: 'flatCallTracer' },
  'flatCallTracer with precompiles': {
    tracer: 'flatCallTracer',
    tracerConfig: { convertParityErrors: true, includePrecompiles: true },
  },
  '4byteTracer': { tracer: '4byteTracer' },
  keccak256PreimageTracer: { tracer: 'keccak256PreimageTracer' },
  erc7562Tracer: { tracer: 'erc7562Tracer', tracerConfig: { withLog: true } },
  'erc7562Tracer with all opcodes': { tracer: 'erc7562Tracer', tracerConfig: { ignoredOpcodes: [] } },
  noopTracer: { tracer: 'noopTracer' },
  muxTracer: { tracer: 'muxTracer', tracerConfig: { callTracer: {}, prestateTracer: {}, '4byteTracer': {} } },
}

/** Those whose traces another one has whole, with more in them: of every fourth block, but for the thorough run. */
const PARTS = new Set(
  ['struct logs', 'callTracer', 'prestateTracer without code and storage', 'flatCallTracer', 'erc7562Tracer'].filter(
    () => !THOROUGH,
  ),
)

test('every trace of the official chain is that of geth, byte by byte', {
  skip: SKIP_SHARED || SKIP_GETH,
}, async (t) => {
  const suite = sharedPath('conformance', 'execution-apis')!
  const [genesis, chain] = ['genesis.json', 'chain.rlp'].map((name) => join(suite, name))
  const geth = await serveWithGeth(t, { datadir: temporaryDirectory(t), genesis, chain })
  const { url } = await startCairn(t, ['--fixture', suite])
  const head = Number(await resultOf<string>(url, 'eth_blockNumber'))
  assert.equal(Number(await resultOf<string>(geth, 'eth_blockNumber')), head)
  for (const [name, config] of Object.entries(CONFIGS)) {
    await t.test(name, async () => {
      for (let number = 1; number <= head; number += PARTS.has(name) ? 4 : 1) {
        const params = [`0x${number.toString(16)}`, config]
        const [own, theirs] = await Promise.all([url, geth].map((each) => answerText(each, params)))
        assert.equal(own, theirs, `block ${number}`)
      }
    })
  }
})

async function answerText(url: string, params: unknown[]): Promise<string> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'debug_traceBlockByNumber', params })
  const response = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
  return (await response.text()).trim()
}
