import { testFaults } from '../../support/upstream/faultTests.js'
import { UPSTREAM_FAULTS } from '../../support/upstream/upstreamFaults.js'

/** One or two of each kind; faults.long.test.ts has all, with test:thorough. */
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
