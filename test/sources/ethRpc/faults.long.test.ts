import { THOROUGH } from '../../support/thorough.js'
import { testFaults } from '../../support/upstream/faultTests.js'
import { UPSTREAM_FAULTS } from '../../support/upstream/upstreamFaults.js'

const chosen = UPSTREAM_FAULTS.filter((_, at) => THOROUGH || at % 6 === 0)
testFaults(THOROUGH ? 'every fault of an upstream' : 'each sixth fault of an upstream', chosen, { withOther: true })
