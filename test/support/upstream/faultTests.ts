import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RawBlock } from '../../../src/sources/source.js'
import { importFixture } from '../chains/fixtureDatabase.js'
import { describeRaw, keepLog, type LogLine, openFixtureRpc, readChain } from '../chains/rightChain.js'
import { temporaryDirectory } from '../temporary.js'
import {
  type ChainAnswers,
  openChainAnswers,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './scriptedUpstream.js'
import type { FaultCase } from './upstreamLies.js'

const QUARANTINED = 'invalid response; the upstream is quarantined'

/** Tests of the block source `ethRpc` against upstreams with these faults: one that gets well, and with `withOther`
 *  also one beside another that is well. */
export function testFaults(name: string, faults: readonly FaultCase[], { withOther }: { withOther: boolean }): void {
  describe(name, () => {
    const datadir = temporaryDirectory({ after })
    let chain: RawBlock[]
    let answers: ChainAnswers
    before(async () => {
      await importFixture(datadir)
      chain = readChain(datadir)
      answers = openChainAnswers(datadir)
    })
    after(() => answers.close())

    const readAll = async (urls: string[], onLine?: (line: LogLine) => void) => {
      const { log, lines } = keepLog(onLine)
      const rpc = openFixtureRpc(chain[0].block.hash, urls, {
        log,
        withReceipts: true,
        limits: { requestTimeoutMs: 1000 },
      })
      const read: RawBlock[] = []
      try {
        for await (const raw of rpc.blocks({ from: 0, to: chain.length - 1 })) {
          // Nothing wrong is ever yielded, not even before an invalid response is found.
          assert.equal(describeRaw(raw), describeRaw(chain[read.length]))
          read.push(raw)
        }
      } finally {
        rpc.close()
      }
      assert.equal(read.length, chain.length)
      return lines
    }
    const urlOf = (upstream: ScriptedUpstream, { overWebSocket }: FaultCase) =>
      overWebSocket ? upstream.wsUrl : upstream.url

    for (const fault of faults) {
      it(`${fault.name}: resumes when the upstream is well again`, async () => {
        const upstream = await startScriptedUpstream(answers, fault)
        const checks: string[] = []
        try {
          await readAll([urlOf(upstream, fault)], ({ message, fields }) => {
            if (message !== QUARANTINED) return
            upstream.fault = undefined
            checks.push(String(fields.check))
          })
          if (fault.check) assert.match(checks[0] ?? '', fault.check, 'the invalid response is named with its check')
          else assert.deepEqual(checks, [])
        } finally {
          await upstream.close()
        }
      })

      if (!withOther) continue
      it(`${fault.name}: another upstream is asked`, async () => {
        const [faulty, well] = [await startScriptedUpstream(answers, fault), await startScriptedUpstream(answers)]
        try {
          const lines = await readAll([urlOf(faulty, fault), well.url])
          const named = lines.filter(({ message }) => message === QUARANTINED)
          if (!fault.check) assert.deepEqual(named, [])
          for (const { fields } of named) {
            assert.equal(fields.upstream, faulty.url)
            assert.match(String(fields.check), fault.check!)
          }
        } finally {
          await faulty.close()
          await well.close()
        }
      })
    }
  })
}
