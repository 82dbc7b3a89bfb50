"""The ExpLink training loss in torch, for tensors on any device."""
