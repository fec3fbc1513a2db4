import { testFaults } from '../../../support/faultTests.js'
import { UPSTREAM_FAULTS } from '../../../support/upstreamFaults.js'

/** One or two of each kind; faults.long.test.ts has all. */
const QUICK = [
  'another stateRoot',
  'another requestsHash',
  'another transaction from',
  'transactions in another order',
  'uncles are missing',
  'withdrawals are missing',
  'another status, receipts asked one by one',
  'a log is missing',
  'a raw block of another number',
  'cuts the answer in the middle',
  '429 with Retry-After in seconds',
  'HTML with status 200',
  'a gzip bomb',
  'a redirect to elsewhere',
  'reordered batches',
  'an answer of a batch is missing',
  'a batch is refused with one error',
  'null for a known block',
  'closes the WebSocket',
]

testFaults(
  'some faults of an upstream',
  QUICK.map((name) => UPSTREAM_FAULTS.find((fault) => fault.name === name)!),
  { withOther: false },
)
