// Compares our interpreter with @ethereumjs/evm on random programs: `fuzz-evm [--seed N] [--count N] [--fork NAME]`.
// A failing world is run again with `--seed SEED --count 1 --fork FORK`.
import { parseArgs } from 'node:util'
import type { Fork } from '../../src/chain/eth/forks.js'
import { createFuzzer, forkOfSeed } from './fuzz.js'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '1000' },
    fork: { type: 'string' },
    most: { type: 'string', default: '10' },
  },
})
const first = Number(values.seed)
const count = Number(values.count)
const fuzzer = await createFuzzer()
let findings = 0
const began = performance.now()
for (let seed = first; seed < first + count && findings < Number(values.most); seed++) {
  const fork = (values.fork as Fork | undefined) ?? forkOfSeed(seed)
  const finding = await fuzzer.compare(seed, fork)
  if (finding === undefined) continue
  findings++
  console.log(`seed ${seed}, fork ${fork}: ${finding.difference}\n`)
}
const seconds = (performance.now() - began) / 1000
console.log(`${count} worlds from seed ${first}: ${findings} differences, ${seconds.toFixed(1)} s`)
process.exitCode = findings === 0 ? 0 : 1
