import { testFaults } from '../../../support/faultTests.js'
import { UPSTREAM_FAULTS } from '../../../support/upstreamFaults.js'

testFaults('every fault of an upstream', UPSTREAM_FAULTS, { withOther: true })
