"""The chains, typed."""

import typing

import atomstream.fields.networks.chains.base
import atomstream.fields.networks.chains.glauber
import atomstream.fields.networks.chains.ising
import atomstream.fields.networks.chains.pivot
import atomstream.fields.networks.chains.significance
import atomstream.fields.networks.chains.walk
import atomstream.fields.networks.motifs
import atomstream.fields.networks.network

from .base import Chain as Chain
from .base import samples as samples

IsingGibbs: typing.TypeAlias = atomstream.fields.networks.chains.ising.IsingGibbs
Motif: typing.TypeAlias = atomstream.fields.networks.motifs.Motif
MotifChain: typing.TypeAlias = atomstream.fields.networks.chains.base.MotifChain
MotifGlauber: typing.TypeAlias = atomstream.fields.networks.chains.glauber.MotifGlauber
MotifPivot: typing.TypeAlias = atomstream.fields.networks.chains.pivot.MotifPivot
Network: typing.TypeAlias = atomstream.fields.networks.network.Network
RandomWalk: typing.TypeAlias = atomstream.fields.networks.chains.walk.RandomWalk
Significance: typing.TypeAlias = atomstream.fields.networks.chains.significance.Significance
homomorphism_density = atomstream.fields.networks.chains.glauber.homomorphism_density
homomorphisms = atomstream.fields.networks.chains.glauber.homomorphisms
significance = atomstream.fields.networks.chains.significance.significance
motifs = atomstream.fields.networks.motifs
