"""The reader of single glyphs, and the loop that trains it."""

import torch
from torch import nn


def available(device):
    """Return the device, or the CPU where this machine has no such thing."""
    backend = torch.cuda if device == "cuda" else torch.backends.mps
    return device if backend.is_available() else "cpu"


class GlyphReader(nn.Module):
    def __init__(self, letters):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.classifier = nn.Linear(32 * 5 * 5, letters)

    def forward(self, images):
        return self.classifier(self.features(images).flatten(1))


class Trainer:
    def __init__(self, model, device):
        self.model = model.to(device)
        self.device = device
        self.optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        self.loss = nn.CrossEntropyLoss()

    def train_epoch(self, loader):
        """Train on every batch once; return the mean loss."""
        self.model.train()
        total = 0.0
        for images, labels in loader:
            images, labels = images.to(self.device), labels.to(self.device)
            self.optimizer.zero_grad()
            loss = self.loss(self.model(images), labels)
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        """Return the share of glyphs that are read rightly."""
        self.model.eval()
        right = seen = 0
        for images, labels in loader:
            read = self.model(images.to(self.device)).argmax(1).cpu()
            right += (read == labels).sum().item()
            seen += len(labels)
        return right / seen

    def save_checkpoint(self, path):
        torch.save(self.model.state_dict(), path)
