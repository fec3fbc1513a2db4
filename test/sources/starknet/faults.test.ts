import { testL2Faults } from '../../support/upstream/l2FaultTests.js'

// Every fault is in faults.long.test.ts, with test:thorough.
testL2Faults((index) => index % 12 === 0)
