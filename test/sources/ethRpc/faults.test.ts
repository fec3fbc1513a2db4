import { ALL, THOROUGH } from '../../support/thorough.js'
import { testFaults } from '../../support/upstream/faultTests.js'
import { UPSTREAM_FAULTS } from '../../support/upstream/upstreamFaults.js'

/** One or two of each kind. */
const QUICK = [
  'another stateRoot',
  'transactions in another order',
  'another status, receipts asked one by one',
  'cuts the answer in the middle',
  'a gzip bomb',
  'an answer of a batch is missing',
  'closes the WebSocket',
]

testFaults(
  'some faults of an upstream',
  QUICK.map((name) => UPSTREAM_FAULTS.find((fault) => fault.name === name)!),
  { withOther: false },
)
if (ALL) {
  const chosen = UPSTREAM_FAULTS.filter((_, at) => THOROUGH || at % 12 === 0)
  testFaults(THOROUGH ? 'every fault of an upstream' : 'each twelfth fault of an upstream', chosen, { withOther: true })
}
