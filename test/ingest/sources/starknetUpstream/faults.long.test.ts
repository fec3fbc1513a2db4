import { testL2Faults } from '../../../support/l2FaultTests.js'

testL2Faults(() => true)
