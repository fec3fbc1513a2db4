package main

import (
	"crypto/elliptic"

	"github.com/ethereum/go-ethereum/consensus/misc"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/params"
)

func p256() elliptic.Curve { return elliptic.P256() }

func setCreate2Deployer(cfg *params.ChainConfig, time uint64, db vm.StateDB) {
	misc.EnsureCreate2Deployer(cfg, time, db)
}
